// Writes the samples beside this file with OpenVDB itself, in the ways that its Python module cannot:
// other compressions, double precision, grids that share a tree, streams.
//
//   g++ -std=c++17 -O1 write_samples.cc -lopenvdb -ltbb -lImath -o write_samples
//   ./write_samples . && gzip -9n *.vdb
//
// The values are simple enough for the tests to repeat them.

#include <openvdb/openvdb.h>
#include <openvdb/io/Stream.h>

#include <fstream>
#include <string>

using namespace openvdb;

// i + 8 j + 64 k, scaled so that it is exact even in half precision
template <typename GridT>
void fill(GridT& grid, double scale)
{
    using ValueT = typename GridT::ValueType;
    auto accessor = grid.getAccessor();
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j)
            for (int k = 0; k < 8; ++k) {
                const double value = scale * (i + 8 * j + 64 * k);
                if ((i + j + k) % 3) accessor.setValueOn(Coord(i, j, k), ValueT(value));
            }
}

template <typename GridT>
typename GridT::Ptr sample(const std::string& name, double background)
{
    using ValueT = typename GridT::ValueType;
    auto grid = GridT::create(ValueT(background));
    grid->setName(name);
    fill(*grid, 0.25);
    auto accessor = grid->getAccessor();
    for (int i = 0; i < 8; ++i) accessor.setValueOff(Coord(16 + i, 0, 0), ValueT(i % 2 ? -2. : 3.));
    for (int i = 0; i < 8; ++i) accessor.setValueOff(Coord(32 + i, 0, 0), ValueT(i));
    accessor.setValueOff(Coord(48, 0, 0), ValueT(-background));
    accessor.setValueOff(Coord(64, 0, 0), ValueT(5.));
    grid->tree().addTile(1, Coord(80, 8, 16), ValueT(7.), true);
    grid->tree().addTile(1, Coord(88, 8, 16), ValueT(-background), false);
    grid->tree().addTile(2, Coord(128, 256, 384), ValueT(-9.), true);
    grid->tree().addTile(3, Coord(-4096, 4096, 0), ValueT(11.), true);
    grid->setTransform(math::Transform::createLinearTransform(0.5));
    grid->transform().postTranslate(Vec3d(1, 2, 3));
    return grid;
}

void write(const std::string& path, const GridPtrVec& grids, uint32_t compression)
{
    io::File file(path);
    file.setCompression(compression);
    file.write(grids);
}

int main(int, char** arguments)
{
    initialize();
    const std::string folder = std::string(arguments[1]) + "/";
    const auto number = sample<FloatGrid>("number", 2.5);
    const auto vector = sample<Vec3SGrid>("vector", 2.5);
    vector->setGridClass(GRID_STAGGERED);
    vector->setVectorType(VEC_CONTRAVARIANT_RELATIVE);
    number->insertMeta("artist", StringMetadata("Ada"));
    number->insertMeta("gain", FloatMetadata(0.1f));
    number->insertMeta("frame", Int32Metadata(12));
    number->insertMeta("ticks", Int64Metadata(int64_t(1) << 40));
    number->insertMeta("time", DoubleMetadata(0.1));
    number->insertMeta("loop", BoolMetadata(true));
    number->insertMeta("pivot", Vec3SMetadata(Vec3s(1, 2, 3)));
    number->insertMeta("size", Vec3IMetadata(Vec3i(4, 5, 6)));
    const GridPtrVec both = {number, vector};
    write(folder + "none.vdb", both, io::COMPRESS_NONE);
    write(folder + "mask.vdb", both, io::COMPRESS_ACTIVE_MASK);
    write(folder + "zip.vdb", both, io::COMPRESS_ZIP);
    write(folder + "zip_mask.vdb", both, io::COMPRESS_ZIP | io::COMPRESS_ACTIVE_MASK);
    write(folder + "blosc.vdb", both, io::COMPRESS_BLOSC);
    write(folder + "blosc_mask.vdb", both, io::COMPRESS_BLOSC | io::COMPRESS_ACTIVE_MASK);
    {
        std::ofstream out(folder + "stream.vdb", std::ios::binary);
        io::Stream(out).write(both);
    }
    for (auto grid : both) grid->setSaveFloatAsHalf(true);
    write(folder + "half_mask.vdb", both, io::COMPRESS_ACTIVE_MASK);
    write(folder + "half_zip_mask.vdb", both, io::COMPRESS_ZIP | io::COMPRESS_ACTIVE_MASK);
    write(folder + "half_blosc_mask.vdb", both, io::COMPRESS_BLOSC | io::COMPRESS_ACTIVE_MASK);
    for (auto grid : both) grid->setSaveFloatAsHalf(false);

    const auto whole = sample<Int32Grid>("whole", 2.);
    const auto mask = BoolGrid::create(false);
    mask->setName("mask");
    mask->tree().setValueOn(Coord(1, 2, 3));
    const auto shared = number->copyGrid();
    shared->setName("number");
    shared->setTransform(math::Transform::createLinearTransform(2.0));
    shared->setGridClass(GRID_FOG_VOLUME);
    write(folder + "types.vdb",
        {mask, sample<DoubleGrid>("number", 2.5), whole, sample<Vec3DGrid>("vector", 2.5)},
        io::COMPRESS_ZIP | io::COMPRESS_ACTIVE_MASK);
    write(folder + "shared.vdb", {number, shared}, io::COMPRESS_ACTIVE_MASK);
    write(folder + "others.vdb", {mask, whole}, io::COMPRESS_ACTIVE_MASK);
}

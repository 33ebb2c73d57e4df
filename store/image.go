package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// imageOf reads a database of which nothing may be written beside it: SQLite would want to make
// its -shm file. The write-ahead log is laid over the pages as SQLite's file format, chapter 4,
// says: frames in order, up to the last commit whose checksums are right.
//
//	log:   magic version page-size sequence salt1 salt2 sum1 sum2, 4 bytes each
//	frame: page pages-after-commit salt1 salt2 sum1 sum2, 4 bytes each, then the page
func imageOf(path string) ([]byte, error) {
	for range 5 {
		before, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		image, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		log, err := os.ReadFile(path + "-wal")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		after, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if before.ModTime().Equal(after.ModTime()) && before.Size() == after.Size() {
			return overlay(image, log)
		}
	}
	return nil, fmt.Errorf("%s changes while it is read", path)
}

const (
	logHeader   = 32
	frameHeader = 24
	logMagic    = 0x377f0682 // the lowest bit: checksums are of big-endian words
)

// overlay is the database with what its log holds, in the format of one without a log.
func overlay(image, log []byte) ([]byte, error) {
	if len(image) < 100 {
		return nil, errors.New("it is empty")
	}
	be := binary.BigEndian
	if len(log) >= logHeader && be.Uint32(log)&^1 == logMagic {
		var words binary.ByteOrder = binary.LittleEndian
		if be.Uint32(log)&1 == 1 {
			words = be
		}
		size := int(be.Uint32(log[8:]))
		sum := checksum(words, [2]uint32{}, log[:24])
		if size < 512 || size > 65536 || sum != [2]uint32{be.Uint32(log[24:]), be.Uint32(log[28:])} {
			log = nil
		}
		pages := map[uint32][]byte{} // not committed yet
		for at := logHeader; at+frameHeader+size <= len(log); at += frameHeader + size {
			head, page := log[at:at+frameHeader], log[at+frameHeader:at+frameHeader+size]
			sum = checksum(words, checksum(words, sum, head[:8]), page)
			if !slices.Equal(head[8:16], log[16:24]) || sum != [2]uint32{be.Uint32(head[16:]), be.Uint32(head[20:])} {
				break
			}
			pages[be.Uint32(head)] = page
			if count := int(be.Uint32(head[4:])); count > 0 {
				image = commit(image, pages, size, count)
				clear(pages)
			}
		}
	}
	image[18], image[19] = 1, 1 // format for writing and reading: no log
	return image, nil
}

// commit lays pages over an image, which then has count of them.
func commit(image []byte, pages map[uint32][]byte, size, count int) []byte {
	if want := count * size; len(image) < want {
		image = append(image, make([]byte, want-len(image))...)
	} else {
		image = image[:want]
	}
	for number, page := range pages {
		if at := (int(number) - 1) * size; at >= 0 && at+size <= len(image) {
			copy(image[at:], page)
		}
	}
	return image
}

// checksum goes on from sum over data, two words at a time.
func checksum(words binary.ByteOrder, sum [2]uint32, data []byte) [2]uint32 {
	for i := 0; i+8 <= len(data); i += 8 {
		sum[0] += words.Uint32(data[i:]) + sum[1]
		sum[1] += words.Uint32(data[i+4:]) + sum[0]
	}
	return sum
}

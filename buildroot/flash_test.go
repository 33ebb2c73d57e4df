//go:build image

package buildroot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatIsWrittenToCards makes a card's image of a small system, and of that what people get. A card that was in use before has to
// become what a new one becomes, also by the map of blocks, which leaves some of it as it was.
func TestWhatIsWrittenToCards(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	root, out := filepath.Join(work, "root"), filepath.Join(work, "out")
	for _, dir := range []string{root + "/boot", out} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// Zeros that belong to a file, and such that do not.
	put(t, root+"/boot/Image", strings.Repeat("kernel", 1<<20))
	put(t, root+"/zeros", strings.Repeat("\x00", 1<<20))
	system := filepath.Join(out, "rootfs.ext4")
	run(t, "mkfs.ext4", "-q", "-F", "-b", "4096", "-d", root, system, "64M")
	run(t, "./board/common/keys.sh", filepath.Join(work, "keys"))
	tool := func(name string, args ...string) {
		t.Helper()
		path, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command(path, args...)
		c.Env = append(os.Environ(), "CONTROLLER_KEYS="+filepath.Join(work, "keys"), "CONTROLLER_PARTS=/nowhere", "CONTROLLER_VERSION=1.5.0+3.gabcdef1",
			"SOURCE_DATE_EPOCH=1795737600", "IMAGE_URL=https://images.example/controller", "XZ_OPT=-0")
		if said, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, said)
		}
	}
	tool("./board/common/post-image.sh", out, raspberryPi)
	tool("./flash.sh", raspberryPi, out)

	image, name := filepath.Join(out, "sdcard.img"), "controller-"+raspberryPi+".img"
	packed := filepath.Join(out, name+".xz")
	check := exec.Command("sha256sum", "--check", "--strict", "--quiet", "sha256sums")
	check.Dir = out
	if said, err := check.CombinedOutput(); err != nil {
		t.Errorf("sha256sums: %v\n%s", err, said)
	}

	var list struct {
		Systems []struct {
			Name, Description, Icon, URL string
			Size                         int64    `json:"extract_size"`
			Sum                          string   `json:"extract_sha256"`
			Packed                       int64    `json:"image_download_size"`
			PackedSum                    string   `json:"image_download_sha256"`
			Date                         string   `json:"release_date"`
			Customised                   string   `json:"init_format"`
			Devices                      []string `json:"devices"`
		} `json:"os_list"`
	}
	b, err := os.ReadFile(filepath.Join(out, "imager.json"))
	if err == nil {
		err = json.Unmarshal(b, &list)
	}
	if err != nil || len(list.Systems) != 1 {
		t.Fatalf("Imager's list: %v\n%s", err, b)
	}
	unpacked, err := exec.Command("xz", "-dc", packed).Output()
	if err != nil {
		t.Fatal(err)
	}
	download, err := os.ReadFile(packed)
	if err != nil {
		t.Fatal(err)
	}
	got := list.Systems[0]
	if got.Size != int64(len(unpacked)) || got.Sum != sum(unpacked) || got.Packed != int64(len(download)) || got.PackedSum != sum(download) {
		t.Errorf("Imager is told sizes and sums that are not those of %d bytes %s, packed %d bytes %s:\n%s", len(unpacked), sum(unpacked), len(download), sum(download), b)
	}
	if got.Name != "Controller 1.5.0+3.gabcdef1" || got.URL != "https://images.example/controller/"+name+".xz" || got.Date != "2026-11-27" ||
		fmt.Sprint(got.Devices) != "[pi3-64bit pi4-64bit]" || got.Customised != "none" || got.Description == "" || got.Icon == "" {
		t.Errorf("Imager is told %+v", got)
	}
	if same, err := os.ReadFile(image); err != nil || !bytes.Equal(same, unpacked) {
		t.Errorf("what is packed is not the image: %v", err)
	}

	// An empty card, by the program.
	card := filepath.Join(work, "card")
	run(t, "bmaptool", "-q", "copy", "--bmap", filepath.Join(out, name+".bmap"), packed, card)
	if b, err := os.ReadFile(card); err != nil || !bytes.Equal(b, unpacked) {
		t.Errorf("bmaptool makes another card of the image: %v", err)
	}

	// One that was in use, which no file of this test's user can be for the program: by the map, as its format says.
	used := bytes.Repeat([]byte{0xA5}, len(unpacked))
	copied := byMap(t, filepath.Join(out, name+".bmap"), unpacked, used)
	if copied < 34<<20 || copied > 80<<20 { // the first partition, what is in the system, and little else
		t.Errorf("%d bytes are copied", copied)
	}
	first := partition(t, image, "rootA")
	if err := os.WriteFile(card, used[first.from:first.to], 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "e2fsck", "-f", "-n", card)
	for _, file := range []string{"boot/Image", "zeros"} {
		want, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := exec.Command("debugfs", "-R", "cat /"+file, card).Output(); err != nil || !bytes.Equal(got, want) {
			t.Errorf("on a card that was in use /%s is another: %v", file, err)
		}
	}
	for _, name := range []string{"boot", "bootstate"} {
		if p := partition(t, image, name); !bytes.Equal(used[p.from:p.to], unpacked[p.from:p.to]) {
			t.Errorf("on a card that was in use the partition %s is another", name)
		}
	}
	second, last := partition(t, image, "rootB"), partition(t, image, "bootstate")
	if !bytes.Equal(used[second.from:second.from+1<<20], make([]byte, 1<<20)) {
		t.Error("on a card that was in use there may be a second system")
	}
	if !bytes.Equal(used[:1<<20], unpacked[:1<<20]) || !bytes.Equal(used[last.to:], unpacked[last.to:]) {
		t.Error("on a card that was in use the tables of partitions are others")
	}
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// byMap copies the blocks of an image that a map of version 2.0 names, and returns how many bytes that is.
func byMap(t *testing.T, path string, image, card []byte) (copied int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Version string `xml:"version,attr"`
		Size    string `xml:"ImageSize"`
		Block   string `xml:"BlockSize"`
		Kind    string `xml:"ChecksumType"`
		Ranges  []struct {
			Sum    string `xml:"chksum,attr"`
			Blocks string `xml:",chardata"`
		} `xml:"BlockMap>Range"`
	}
	if err := xml.NewDecoder(bytes.NewReader(b)).Decode(&m); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	var size, block int
	fmt.Sscan(m.Size, &size)
	fmt.Sscan(m.Block, &block)
	if m.Version != "2.0" || strings.TrimSpace(m.Kind) != "sha256" || size != len(image) || block == 0 || len(m.Ranges) == 0 {
		t.Fatalf("a map of version %s for %d bytes in blocks of %d by %s", m.Version, size, block, m.Kind)
	}
	for _, r := range m.Ranges {
		var first, last int
		if n, _ := fmt.Sscanf(strings.TrimSpace(r.Blocks), "%d-%d", &first, &last); n == 1 {
			last = first
		}
		from, to := first*block, min((last+1)*block, size)
		if sum(image[from:to]) != r.Sum {
			t.Errorf("blocks %d to %d are not those of the map", first, last)
		}
		copied += copy(card[from:to], image[from:to])
	}
	return copied
}

type span struct{ from, to int }

// partition tells where one of an image is.
func partition(t *testing.T, image, name string) (s span) {
	t.Helper()
	out, err := exec.Command("partx", "--show", "--noheadings", "--output", "NAME,START,SECTORS", image).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		var got string
		var start, length int
		if n, _ := fmt.Sscan(line, &got, &start, &length); n == 3 && got == name {
			return span{start * 512, (start + length) * 512}
		}
	}
	t.Fatalf("the image has no partition %s:\n%s", name, out)
	return s
}

package redistest

import (
	"strconv"
	"strings"
)

// Slots is the number of slots of a Redis Cluster.
const Slots = 16384

// Slot returns the slot of a key: CRC-16 (XMODEM) of the key, or of its hash tag, modulo [Slots]. The hash tag is the
// text between the first { and the next }, unless it is empty.
func Slot(key string) int {
	if _, rest, found := strings.Cut(key, "{"); found {
		if tag, _, closed := strings.Cut(rest, "}"); closed && tag != "" {
			key = tag
		}
	}
	var crc uint16
	for i := range len(key) {
		crc ^= uint16(key[i]) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return int(crc) % Slots
}

// KeyIn returns a key of a slot: prefix and a number. It panics if prefix has a hash tag, because all such keys have
// one slot.
func KeyIn(slot int, prefix string) string {
	if strings.Contains(prefix, "{") {
		panic("redistest: KeyIn: the prefix " + prefix + " has a hash tag")
	}
	for i := 0; ; i++ {
		if key := prefix + strconv.Itoa(i); Slot(key) == slot {
			return key
		}
	}
}

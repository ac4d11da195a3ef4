// What docs/clients.md says about Go, run by `make test-clients`: redigo, which knows no clusters, and Go's roaring library.

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring"
	"github.com/gomodule/redigo/redis"
)

func check(what string, got, expected interface{}) {
	if reflect.DeepEqual(got, expected) {
		fmt.Println("ok", what)
	} else {
		fmt.Printf("failed %s: %v, not %v\n", what, got, expected)
	}
}

func must(reply interface{}, err error) interface{} {
	if err != nil {
		panic(err)
	}
	return reply
}

// docs: members
// member converts an item of a reply: an integer, or a string from 2^63 up.
func member(reply interface{}) (uint64, error) {
	switch item := reply.(type) {
	case int64:
		return uint64(item), nil
	case []byte:
		return strconv.ParseUint(string(item), 10, 64)
	}
	return 0, fmt.Errorf("not a member: %v", reply)
}

// docs: end

// docs: portable
// members64 reads an EXPORT payload of R64.* commands: how many upper halves there are, and for each the half and a 32-bit bitmap.
func members64(payload []byte) ([]uint64, error) {
	var all []uint64
	count := binary.LittleEndian.Uint64(payload)
	for rest := payload[8:]; count > 0; count-- {
		high, low := uint64(binary.LittleEndian.Uint32(rest)), roaring.New()
		read, err := low.FromBuffer(rest[4:])
		if err != nil {
			return nil, err
		}
		for each := low.Iterator(); each.HasNext(); {
			all = append(all, high<<32|uint64(each.Next()))
		}
		rest = rest[4+read:]
	}
	return all, nil
}

// docs: end

func main() {
	port := os.Getenv("ROAR_PORT")
	// docs: example
	r, err := redis.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		panic(err)
	}
	r.Do("R.SETBITS", "tag:chess", 7, 9)
	r.Do("R.SETBITS", "tag:go", 8, 9)
	both, err := redis.Ints(r.Do("R.QUERY", "#1 & #2", 2, "tag:chess", "tag:go", "MEMBERS")) // [9]

	r.Do("R64.SETBITS", "likes", 7, 1<<53+1, uint64(1<<63-1), uint64(1<<63), uint64(math.MaxUint64))
	items, err := redis.Values(r.Do("R64.GETINTARRAY", "likes")) // member converts each
	// docs: end
	check("question", both, []int{9})
	var likes []uint64
	for _, item := range items {
		likes = append(likes, must(member(item)).(uint64))
	}
	check("exact members", likes, []uint64{7, 1<<53 + 1, 1<<63 - 1, 1 << 63, math.MaxUint64})
	list := must(r.Do("R64.GETINTARRAY", "none"))
	check("no result", []interface{}{must(r.Do("R64.MIN", "none")), must(r.Do("R64.SELECT", "none", 0)), list}, []interface{}{int64(-1), nil, []interface{}{}})

	_, err = r.Do("R.SETBIT", "tag:chess", 4294967296, 1) // a redis.Error, whose text begins with the code
	refusal, isError := err.(redis.Error)
	check("bad argument", isError && strings.HasPrefix(string(refusal), "ERR invalid offset"), true)
	must(r.Do("SET", "text", "x"))
	_, err = r.Do("R.GETBIT", "text", 1)
	check("wrong type", strings.HasPrefix(err.Error(), "WRONGTYPE"), true)

	payload := must(r.Do("R64.EXPORT", "likes")).([]byte)
	check("export", must(members64(payload)), likes)
	must(r.Do("R64.IMPORT", "copy", payload))
	check("import", must(r.Do("R64.GETINTARRAY", "copy")), must(r.Do("R64.GETINTARRAY", "likes")))

	// What the library writes is imported: all kinds of containers.
	bitmap := roaring.New()
	bitmap.AddRange(100, 200000)
	for i := uint32(0); i < 10000; i++ {
		bitmap.Add(1<<20 + 3*i)
	}
	bitmap.AddMany([]uint32{1 << 30, math.MaxUint32})
	bitmap.RunOptimize()
	var written bytes.Buffer
	must(bitmap.WriteTo(&written))
	check("roaring: import", must(r.Do("R.IMPORT", "made", written.Bytes())), int64(bitmap.GetCardinality()))
	again := roaring.New()
	must(again.FromBuffer(must(r.Do("R.EXPORT", "made")).([]byte)))
	check("roaring: export", again.Equals(bitmap), true)
}

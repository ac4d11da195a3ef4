<?php
// What docs/clients.md says about PHP, run by `make test-clients`: phpredis, alone and in a cluster.

$port = (int) getenv("ROAR_PORT");
$clusterPort = getenv("ROAR_CLUSTER_PORT");

function check(string $what, $got, $expected): void
{
    echo $got === $expected ? "ok $what\n" : "failed $what: " . json_encode($got) . ", not " . json_encode($expected) . "\n";
}

// docs: example
$r = new Redis();
$r->connect("127.0.0.1", $port);
$r->rawCommand("R.SETBITS", "tag:chess", 7, 9);
$r->rawCommand("R.SETBITS", "tag:go", 8, 9);
$both = $r->rawCommand("R.QUERY", "#1 & #2", 2, "tag:chess", "tag:go", "MEMBERS");      // [9]

// Members from 2^63 up are strings, here and in replies: PHP's integers end at 2^63 - 1.
$r->rawCommand("R64.SETBITS", "likes", 7, 9007199254740993, PHP_INT_MAX, "9223372036854775808", "18446744073709551615");
$likes = array_map("strval", $r->rawCommand("R64.GETINTARRAY", "likes"));
$payload = $r->rawCommand("R64.EXPORT", "likes");                                     // a string of bytes
// docs: end

check("question", $both, [9]);
check("exact members", $likes, ["7", "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615"]);
check("no result", [$r->rawCommand("R64.MIN", "none"), $r->rawCommand("R64.SELECT", "none", 0), $r->rawCommand("R64.GETINTARRAY", "none")], [-1, false, []]);

// docs: errors
$answer = $r->rawCommand("R.SETBIT", "tag:chess", 4294967296, 1);                      // false: no exception
$refusal = $r->getLastError();                                                        // begins with the code
$r->clearLastError();
// docs: end
check("bad argument", [$answer, strpos($refusal, "ERR invalid offset")], [false, 0]);
$r->set("text", "x");
$r->rawCommand("R.GETBIT", "text", 1);
check("wrong type", strpos($r->getLastError(), "WRONGTYPE"), 0);

check("export", unpack("P", $payload), [1 => 5]);                                     // upper halves that occur
$r->rawCommand("R64.IMPORT", "copy", $payload);
check("import", $r->rawCommand("R64.GETINTARRAY", "copy"), $r->rawCommand("R64.GETINTARRAY", "likes"));

$tags = range(0, 19);
// docs: cluster
$cluster = new RedisCluster(null, ["127.0.0.1:$clusterPort"]);
$count = fn (int $tag) => $cluster->rawCommand("{shop$tag}a", "R.QUERY", "#1 | #2", 2, "{shop$tag}a", "{shop$tag}b");
// docs: end
foreach ($tags as $tag) {
    $cluster->rawCommand("{shop$tag}a", "R.SETBITS", "{shop$tag}a", 1, 2);
    $cluster->rawCommand("{shop$tag}b", "R.SETBITS", "{shop$tag}b", 2, 3);
}
$and = fn (int $tag) => $cluster->rawCommand("{shop$tag}a", "R.BITOP", "AND", "{shop$tag}both", "{shop$tag}a", "{shop$tag}b");
check("cluster", [array_map($and, $tags), array_map($count, $tags)], [array_fill(0, 20, 1), array_fill(0, 20, 3)]);

# What docs/clients.md says about Perl, run by `make test-clients`: the module Redis, which knows no clusters.

use strict;
use warnings;
use Redis;

my $port = $ENV{ROAR_PORT};

sub check {
    my ($what, $got, $expected) = @_;
    ($got, $expected) = map { join ",", map { $_ // "undef" } @$_ } $got, $expected;
    print $got eq $expected ? "ok $what\n" : "failed $what: $got, not $expected\n";
}

# docs: example
# The names of these commands are no identifiers of Perl; `$r->${\"name"}(...)` calls a method by any name.
my $r = Redis->new(server => "127.0.0.1:$port");
$r->${\"R.SETBITS"}("tag:chess", 7, 9);
$r->${\"R.SETBITS"}("tag:go", 8, 9);
my $both = $r->${\"R.QUERY"}("#1 & #2", 2, "tag:chess", "tag:go", "MEMBERS");        # [9]

# Replies are strings, so all members are exact. Perl's integers end at 2^64 - 1.
$r->${\"R64.SETBITS"}("likes", 7, 9007199254740993, "9223372036854775807", "9223372036854775808", ~0);
my $likes = $r->${\"R64.GETINTARRAY"}("likes");
my $payload = $r->${\"R64.EXPORT"}("likes");                                         # bytes
# docs: end

check("question", [ref $both ? @$both : $both], [9]);
check("exact members", $likes, [7, "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615"]);
check("no result", [$r->${\"R64.MIN"}("none"), $r->${\"R64.SELECT"}("none", 0), scalar @{$r->${\"R64.GETINTARRAY"}("none")}],
      [-1, undef, 0]);

# docs: errors
eval { $r->${\"R.SETBIT"}("tag:chess", 4294967296, 1) };
my $refusal = $@;                                                                    # "[R.SETBIT] ERR invalid offset: ..."
# docs: end
check("bad argument", [$refusal =~ /ERR invalid offset/ ? 1 : $refusal], [1]);
$r->set("text", "x");
eval { $r->${\"R.GETBIT"}("text", 1) };
check("wrong type", [$@ =~ /WRONGTYPE/ ? 1 : $@], [1]);

check("export", [unpack "Q<", $payload], [5]);                                       # upper halves that occur
$r->${\"R64.IMPORT"}("copy", $payload);
check("import", scalar $r->${\"R64.GETINTARRAY"}("copy"), $likes);

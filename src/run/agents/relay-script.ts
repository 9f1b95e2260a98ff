// What passes an agent's lines on to its tool server. A program asks its model nothing before it has our tools, and starting Node
// takes most of that time; Perl is there within 2 ms, and nearly everywhere. It knows no protocol: bytes go both ways.
// Written without modules, which would have to be loaded: 1 and 1 are a socket of the machine's own, as a stream; 4 is an
// interruption. At most 4,096 bytes are written at once, which never waits where `select` says there is room: whoever waited
// with a full answer on the other side would wait for ever.
import { TOOL_SOCKET } from "../../schema/tools.js";

export const RELAY_SCRIPT = `
$SIG{PIPE} = "IGNORE";
my $path = $ENV{${TOOL_SOCKET}};
defined $path or die "nexus: ${TOOL_SOCKET} says where the tools are, and it is not set\\n";
my $line;
socket($line, 1, 1, 0) && connect($line, pack("S Z*", 1, $path))
  or die "nexus: the tools cannot be reached: $!\\n";
my ($number, $up, $down, $asks, $answers, $said) = (fileno $line, "", "", 1, 1, 0);
while ($answers || length $down) {
  my ($read, $write) = ("", "");
  vec($read, 0, 1) = 1 if $asks && length $up < 65536;
  vec($read, $number, 1) = 1 if $answers && length $down < 65536;
  vec($write, $number, 1) = 1 if length $up;
  vec($write, 1, 1) = 1 if length $down;
  if (select($read, $write, undef, undef) < 0) { last if $! != 4; next }
  if (vec($read, 0, 1) && !take(*STDIN, \\$up)) { $asks = 0 }
  if (vec($read, $number, 1) && !take($line, \\$down)) { $answers = 0 }
  give($line, \\$up) or $up = "" if vec($write, $number, 1);
  give(*STDOUT, \\$down) or last if vec($write, 1, 1);
  if (!$asks && !length $up && !$said++) { shutdown($line, 1) }
}
sub take { my ($from, $to) = @_; my $n = sysread($from, $$to, 65536, length $$to); $n || (!defined $n && $! == 4) }
sub give { my ($to, $from) = @_; my $n = syswrite($to, $$from, 4096); substr($$from, 0, $n, "") if $n; $n || $! == 4 }
`;

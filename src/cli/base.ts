// What every start of either program needs, whatever the command. The bundler puts this into every file, so that all of it
// becomes one chunk: by what each command happens to use it would be seven, and each file costs a start over a millisecond.
import "../errors.js";
import "../process/self.js";
import "../schema/mismatch.js";
import "../version.js";
import "./command.js";
import "./io.js";
import "./process.js";
import "./progress.js";
import "./stopped.js";
import "./stopped-by.js";
import "./text.js";

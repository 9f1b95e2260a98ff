// Tests in languages that are compiled, and in browsers: honest ones pass, and their controls fail as they should.
import { describeHonest } from "../acceptance/honest.js";
import { HONEST } from "../acceptance/honest-tests.js";

describeHonest(HONEST.filter(({ slow }) => slow === true));

/** The program as a file that Node runs, for tests that start it as a process of its own. */
import path from 'node:path'

/** The bundle that `npm test` has made of it for all test files, else the source. */
export const programFile =
  process.env.TEST_PROGRAM ?? path.join(import.meta.dirname, '..', 'src', 'main.ts')

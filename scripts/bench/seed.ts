/**
 * `npm run bench:seed`: builds the database of the contact benchmarks if there is none, and prints its
 * file. The benchmarks build it themselves when they need it.
 */
import { prepareDatabase } from './seeded-database.ts'

console.log(await prepareDatabase())

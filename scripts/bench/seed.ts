/**
 * `npm run bench:seed`: the database of the benchmarks of people, built when there is none; its
 * file. The benchmarks do it themselves when they need it.
 */
import { preparePeople } from './people-cache.ts'

console.log(await preparePeople())

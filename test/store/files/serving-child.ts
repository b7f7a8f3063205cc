/** Takes the lock and the store of argv, says so, and stays until it is killed. */
import { createLog } from '../../../src/base/log.ts'
import { takeServeLock } from '../../../src/store/files/serve-lock.ts'
import { openStore } from '../../../src/store/store.ts'

const [, , path = '', migrationsDir = ''] = process.argv
const log = createLog('info', { write: (line) => console.log(JSON.parse(line).msg) })
await takeServeLock(path, { log, everyMs: 20 })
await openStore({ path, migrationsDir, log })
console.log('serving')
process.stdin.resume()

/** Opens the store of argv, closes it and ends. */
import { silentLog } from '../../src/base/log.ts'
import { openStore } from '../../src/store/store.ts'

const [, , path = '', migrationsDir = ''] = process.argv
const store = await openStore({ path, migrationsDir, log: silentLog() })
await store.close()

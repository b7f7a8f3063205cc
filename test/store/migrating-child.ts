/** Opens the store of argv as a large one, says when it is being migrated, closes it and ends. */
import { silentLog } from '../../src/base/log.ts'
import { openStore } from '../../src/store/store.ts'

const [, , path = '', migrationsDir = ''] = process.argv
const onMigration = ({ number }: { number: number }) => console.log(`migrating ${number}`)
const store = await openStore({ path, migrationsDir, log: silentLog(), largeBytes: 1, onMigration })
await store.close()

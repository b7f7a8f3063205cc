/**
 * Writes to the store of argv until it is killed: `callers` at a time, three statements a write,
 * and prints each id once its write has resolved. With a third argument, so many writes a caller
 * and an orderly end.
 */
import { silentLog } from '../../../src/base/log.ts'
import { newId } from '../../../src/store/ids.ts'
import { openStore } from '../../../src/store/store.ts'
import { printLine } from '../../print-line.ts'
import { notes } from '../test-store.ts'

const [, , path = '', migrationsDir = '', callers = '20', rounds = 'Infinity'] = process.argv
const store = await openStore({ path, migrationsDir, log: silentLog(), watch: false })
await Promise.all(Array.from({ length: Number(callers) }, call))
await store.close()

async function call(): Promise<void> {
  for (let round = 0; round < Number(rounds); round += 1) {
    const id = newId()
    await store.write(async (tx) => {
      for (const part of ['a', 'b', 'c']) {
        await tx.insert(notes).values({ id: `${id}-${part}`, seq: round })
      }
    })
    printLine(id)
  }
}

import { silentLog } from '../../../src/base/log.ts'
import { projects } from '../../../src/store/schema/accounts.ts'
import { openStore, type Store } from '../../../src/store/store.ts'

export const PROJECTS = ['p1', 'p2']

/** Opens a database in which the projects are. */
export async function openCountedProjects(file: string): Promise<Store> {
  const store = await openStore({ path: file, log: silentLog(), watch: false })
  await store.write(async (tx) => {
    for (const id of PROJECTS) {
      const at = Date.now()
      const keys = { publicKey: id, secretDigest: id, secretHint: '' }
      const row = { id, name: id, ...keys, createdAt: at, updatedAt: at }
      await tx.insert(projects).values(row).onConflictDoNothing()
    }
  })
  return store
}

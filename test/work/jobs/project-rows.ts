import { projects } from '../../../src/store/schema/accounts.ts'
import type { Store } from '../../../src/store/store.ts'

/** Projects with these ids, for jobs that are refused without their project. */
export async function addProjectRows(store: Store, ...ids: string[]): Promise<void> {
  const times = { createdAt: 0, updatedAt: 0 }
  const rows = ids.map((id) => ({
    ...{ id, name: id, publicKey: `pk ${id}`, secretDigest: `digest ${id}`, secretHint: '' },
    ...times,
  }))
  await store.write((tx) => tx.insert(projects).values(rows))
}

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { indexBatch } from '../src/features/people/contacts/list/search-index.ts'
import { upsertContact } from '../src/features/people/contacts/write/contact-queue.ts'
import { sql } from '../src/store/drizzle.ts'
import { addProject, address, openTestCore, type TestCore, trustDomain } from './core.ts'

type Cleanup = () => Promise<void>

/** Those that the other files have left are taken; the next test gets the one that was last given back. */
const others: Cleanup[] = []
before(async () => {
  for (let at = 0; at < 3; at++) await open(others)
})
after(async () => {
  for (const close of others) await close()
})

async function open(cleanups: Cleanup[]): Promise<TestCore> {
  return openTestCore({ after: (fn: unknown) => void cleanups.push(fn as Cleanup) })
}

async function withCore<T>(use: (core: TestCore) => Promise<T>): Promise<T> {
  const cleanups: Cleanup[] = []
  try {
    return await use(await open(cleanups))
  } finally {
    for (const close of cleanups) await close()
  }
}

/** All rows of all tables. */
async function dump({ store }: TestCore): Promise<Map<string, unknown[]>> {
  const names = await store.read.values<[string]>(
    sql`select name from sqlite_master where type = 'table' order by name`,
  )
  const rows = names.map(
    async ([name]) =>
      [name, await store.read.values(sql`select * from ${sql.identifier(name)}`)] as const,
  )
  return new Map((await Promise.all(rows)).filter(([name]) => name !== 'contact_search'))
}

async function addRows(core: TestCore): Promise<void> {
  const { id: projectId } = await addProject(core)
  await trustDomain(core, projectId, 'shop.test')
  const contact = { projectId, address: address('ada@a.test'), data: { city: 'Bern' } }
  await upsertContact(core, { ...contact, subscribed: true })
  await indexBatch(core)
  await core.store.write((tx) => tx.run(sql`delete from instance_keys`))
}

test('a database that is used again is as a new one', async () => {
  const first = await withCore(async (core) => {
    const rows = await dump(core)
    await addRows(core)
    assert.notDeepEqual(await dump(core), rows)
    const file = path.join(core.config.dataDir, 'upload')
    await writeFile(file, 'of this test')
    return { rows, file, core }
  })
  await withCore(async (core) => {
    assert.equal(core.config.dataDir, first.core.config.dataDir, 'it was used again')
    assert.deepEqual(await dump(core), first.rows)
    assert.equal(existsSync(first.file), false)
    await assert.rejects(first.core.store.read.values(sql`select 1`), /not open/)
    await addRows(core)
  })
})

const damages: [name: string, damage: (core: TestCore) => Promise<unknown>][] = [
  [
    'whose schema was changed',
    ({ store }) => store.write((tx) => tx.run(sql`create table other (a)`)),
  ],
  ['that may not grow', ({ store }) => store.write((tx) => tx.get(sql`pragma max_page_count = 1`))],
  ['that the test has closed', ({ store }) => store.close()],
]

for (const [name, damage] of damages) {
  test(`a database ${name} is not used again`, async () => {
    const folder = await withCore(async (core) => {
      await damage(core)
      return core.config.dataDir
    })
    assert.equal(existsSync(folder), false)
    await withCore(async (core) => assert.notEqual(core.config.dataDir, folder))
  })
}

/** Commands on a database that was brought back from a copy, before a server starts on it. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { sql } from '../../src/store/drizzle.ts'
import { makeFolder } from '../config/config-folder.ts'
import { commandsAt, placeDatabase } from './commands-at.ts'

const KNOWN = { generation: 0, seq: 40, at: '2026-11-26T18:40:28.073Z' }

test('F7: the first command on a database brought back sets the fence and does nothing else', async () => {
  const cwd = makeFolder()
  await placeDatabase(cwd)
  const { json, failure, withStore } = commandsAt({ cwd, env: {} })
  await json('user', 'create', '--email', 'ada@example.test')
  const { id } = await json('project', 'create', '--name', 'Shop', '--owner', 'ada@example.test')
  const file = path.join(cwd, 'data', 'generation')
  await writeFile(file, JSON.stringify(KNOWN))
  const refused = await failure('project', 'update', id, '--name', 'Store')
  assert.deepEqual([refused.status, refused.code], [1, 'CONFLICT'])
  assert.match(refused.message, /^The database is older than it was/)
  assert.match(refused.suggestion, /pillarbox queue release --restored.*Run the command again/)
  const [project] = await json('project', 'list')
  assert.equal(project.name, 'Shop')
  const { generation, seq } = JSON.parse(await readFile(file, 'utf8'))
  assert.deepEqual([generation, seq], [1, KNOWN.seq + 1_000_000])
  await withStore(async (store) => {
    assert.deepEqual(await store.read.all(sql`select project_id as id from fences order by 1`), [
      { id: '' },
      { id },
    ])
  })
  assert.equal((await json('project', 'update', id, '--name', 'Store')).name, 'Store')
})

test('F7: a release by the first command on a database brought back releases nothing', async () => {
  const cwd = makeFolder()
  await placeDatabase(cwd)
  const { json, failure, withStore } = commandsAt({ cwd, env: {} })
  await json('user', 'create', '--email', 'ada@example.test')
  await json('project', 'create', '--name', 'Shop', '--owner', 'ada@example.test')
  await writeFile(path.join(cwd, 'data', 'generation'), JSON.stringify(KNOWN))
  assert.equal((await failure('queue', 'release', '--restored')).code, 'CONFLICT')
  const count = await withStore((store) =>
    store.read.all<{ count: number }>(sql`select count(*) as count from fences`),
  )
  assert.deepEqual(count, [{ count: 2 }])
})

test('F7: fence on a database brought back sets one fence, above the numbers of the file', async () => {
  const cwd = makeFolder()
  await placeDatabase(cwd)
  const { json, withStore } = commandsAt({ cwd, env: {} })
  await json('user', 'create', '--email', 'ada@example.test')
  await json('project', 'create', '--name', 'Shop', '--owner', 'ada@example.test')
  const file = path.join(cwd, 'data', 'generation')
  await writeFile(file, JSON.stringify(KNOWN))
  assert.equal((await json('fence')).generation, 1)
  const { generation, seq } = JSON.parse(await readFile(file, 'utf8'))
  assert.deepEqual([generation, seq], [1, KNOWN.seq + 1_000_000])
  const rows = await withStore((store) => store.read.all(sql`select number from generations`))
  assert.deepEqual(rows, [{ number: 1 }])
})

test('F7: a new database beside the mark of an old one goes on with its numbers, and holds nothing', async () => {
  const cwd = makeFolder()
  await placeDatabase(cwd)
  const { json, withStore } = commandsAt({ cwd, env: {} })
  await json('user', 'list')
  await writeFile(path.join(cwd, 'data', 'generation'), JSON.stringify(KNOWN))
  await json('user', 'create', '--email', 'ada@example.test')
  await json('project', 'create', '--name', 'Shop', '--owner', 'ada@example.test')
  await withStore(async (store) => {
    assert.deepEqual(await store.read.all(sql`select * from fences`), [])
  })
})

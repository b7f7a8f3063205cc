import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { generationFileOf } from '../../../../src/features/ground/fence/generation-file.ts'
import {
  noticeOlderDatabase,
  refuseOlderDatabase,
} from '../../../../src/features/operation/recovery/notice-older.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import type { Store } from '../../../../src/store/store.ts'
import { addProject, openTestCore, type TestCore } from '../../../core.ts'

const KNOWN = { generation: 2, seq: 40, at: '2026-11-26T18:40:28.073Z' }

/** The core as another process has it: before its first write, `act` happens. */
function beforeWriting(core: TestCore, act: () => Promise<unknown>): TestCore {
  let isFirst = true
  const write: Store['write'] = async (...input) => {
    if (isFirst) {
      isFirst = false
      await act()
    }
    return core.store.write(...input)
  }
  return { ...core, store: { ...core.store, write } }
}

const generationsOf = ({ store }: TestCore) =>
  store.read.all(sql`select number, cause from generations order by number`)

test('F7: a command beside a server that starts sets no second fence, and still does nothing', async (t) => {
  const core = await openTestCore(t)
  await addProject(core)
  const file = generationFileOf(core.config)
  await writeFile(file, JSON.stringify(KNOWN))
  const command = beforeWriting(core, () => noticeOlderDatabase(core, 'start'))
  await assert.rejects(refuseOlderDatabase(command), { code: 'CONFLICT' })
  assert.deepEqual(await generationsOf(core), [{ number: 3, cause: 'start' }])
  const { generation, seq } = JSON.parse(await readFile(file, 'utf8'))
  assert.deepEqual([generation, seq], [3, KNOWN.seq + 1_000_000])
  await refuseOlderDatabase(core)
})

test('F7: a server that starts beside a command goes on behind the fence of that', async (t) => {
  const core = await openTestCore(t)
  await addProject(core)
  await writeFile(generationFileOf(core.config), JSON.stringify(KNOWN))
  const server = beforeWriting(core, () => noticeOlderDatabase(core, 'command'))
  await noticeOlderDatabase(server, 'start')
  assert.deepEqual(await generationsOf(core), [{ number: 3, cause: 'command' }])
})

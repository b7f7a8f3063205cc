/** The upgrade leaves a fault in a template of a send request what it was: no reason not to send. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../../../src/base/log.ts'
import { sql } from '../../../../../src/store/drizzle.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import { openStore } from '../../../../../src/store/store.ts'
import { openBefore } from '../../../../store/open-before.ts'

test('projects of before send faulty templates', async (t) => {
  const { before, file } = await openBefore(t, 30)
  await before.write((tx) =>
    tx.run(sql`insert into projects
      (id, name, public_key, secret_digest, secret_hint, created_at, updated_at)
      values ('p', 'Shop', 'pk', 'd', 'h', 1, 1)`),
  )
  await before.close()
  const store = await openStore({ path: file, log: silentLog() })
  t.after(() => store.close())
  assert.equal((await store.read.select().from(projects).get())?.onTemplateFault, 'send')
})

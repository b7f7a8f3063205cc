/** The upgrade leaves submitted mail of the projects of before what it was: a template. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../../../src/base/log.ts'
import { sql } from '../../../../../src/store/drizzle.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import { contents } from '../../../../../src/store/schema/messages.ts'
import { openStore } from '../../../../../src/store/store.ts'
import { openBefore } from '../../../../store/open-before.ts'

test('projects of before render submitted mail, and their contents are templates', async (t) => {
  const { before, file } = await openBefore(t, 27)
  await before.write(async (tx) => {
    await tx.run(sql`insert into projects
      (id, name, public_key, secret_digest, secret_hint, created_at, updated_at)
      values ('p', 'Shop', 'pk', 'd', 'h', 1, 1)`)
    await tx.run(sql`insert into contents (id, project_id, subject, body, last_used_at, created_at)
      values ('c', 'p', '{{ x }}', '<p>{{ x }}</p>', 1, 1)`)
  })
  await before.close()
  const store = await openStore({ path: file, log: silentLog() })
  t.after(() => store.close())
  assert.equal((await store.read.select().from(projects).get())?.submissionTemplates, true)
  const content = await store.read.select().from(contents).get()
  assert.deepEqual([content?.isLiteral, content?.warnings], [false, null])
})

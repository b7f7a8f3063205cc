import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findUnknownFields } from '../../../../src/features/ground/conditions/unknown-fields.ts'
import { addProject, openTestCore } from '../../../core.ts'
import { addContacts } from '../../people/contacts/add-contacts.ts'
import { unlikeName } from '../unlike-name.ts'

test('the fields that were probably meant are found with a bounded effort', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const keys = Array.from({ length: 400 }, (_, seed) => unlikeName(seed)).sort()
  const data = Object.fromEntries(keys.map((key) => [key, 1]))
  await addContacts(core, projectId, [{ email: 'a@b.test', data }])
  const filters = keys.slice(-20).map((key) => {
    return { field: `data.${key.slice(0, -1)}X`, operator: 'exists' as const }
  })
  const unknown = await findUnknownFields(core, projectId, filters)
  assert.equal(unknown.length, 20)
  assert.equal(unknown[0]?.meant, `data.${keys.at(-20)}`)
  assert.equal(unknown.at(-1)?.meant, undefined)
})

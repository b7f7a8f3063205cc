import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../../../src/base/errors.ts'
import { requireSteps } from '../../../../../src/features/outreach/workflows/definition/require-references.ts'
import { newId } from '../../../../../src/store/ids.ts'

test('the emails of a workflow are listed once, and only the first faults are told', () => {
  let reads = 0
  const known = Array.from({ length: 300 }, (_, index) => ({
    id: newId(),
    name: `Step ${index}`,
    get type() {
      reads += 1
      return 'SEND_EMAIL'
    },
  }))
  const edited = known.map((_, index) => {
    const config = { eventName: 'email.opened', stepId: newId() }
    return { type: 'WAIT_FOR_EVENT' as const, config, path: `steps.${index}.config` }
  })
  assert.throws(
    () => requireSteps(edited, known),
    (error) => {
      assert.ok(error instanceof AppError)
      assert.equal(error.fields?.length, 20)
      assert.match(error.fields[0]?.message ?? '', / and 290 more\./)
      return true
    },
  )
  assert.equal(reads, known.length)
})

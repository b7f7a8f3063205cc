import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  deleteExpiredSandboxMessages,
  insertSandboxMessage,
  listSandboxMessages,
} from '../../../../src/features/mail/messages/sandbox-messages.ts'
import { openTestCore } from '../../../core.ts'

describe('the messages of a sandbox', () => {
  it('are deleted but for the newest, in short writes', async (t) => {
    const core = await openTestCore(t)
    const text = { sender: 'a@b.test', recipient: 'c@d.test', raw: Buffer.from('x') }
    for (let number = 1; number <= 30; number += 1) {
      await insertSandboxMessage(core, { ...text, subject: String(number) })
    }
    const deleted: unknown[] = []
    const write: typeof core.store.write = async (act, options) => {
      const result = await core.store.write(act, options)
      deleted.push(result)
      return result
    }
    const counted = { store: { ...core.store, write } }
    assert.equal(await deleteExpiredSandboxMessages(counted, 3), 27)
    // A slow machine makes the batches after the first one smaller.
    assert.equal(deleted[0], 20)
    const { messages } = await listSandboxMessages(core, { limit: 100 })
    assert.deepEqual(
      messages.map(({ subject }) => subject),
      ['30', '29', '28'],
    )
    assert.equal(await deleteExpiredSandboxMessages(counted, 3), 0)
    assert.equal(await deleteExpiredSandboxMessages(counted, 100), 0)
  })

  it('are none at first', async (t) => {
    assert.equal(await deleteExpiredSandboxMessages(await openTestCore(t), 0), 0)
  })
})

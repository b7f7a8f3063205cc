import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeyring } from '../../../../src/config/keyring.ts'
import { checkSecret } from '../../../../src/features/operation/seals/seals.ts'
import { openSender } from '../../mail/messages/sender.ts'

test('a lost or different secret stops the start before the server serves', async (t) => {
  const { core } = await openSender(t)
  await checkSecret(core)
  const keyring = createKeyring('another secret of the same length')
  await assert.rejects(checkSecret({ ...core, keyring }), { code: 'INVALID_CONFIGURATION' })
})

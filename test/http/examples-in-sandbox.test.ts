/**
 * Who opens /docs in a new sandbox and sends an example gets an answer that works, without a change of the
 * example. Examples with an id in their path need a record of the reader, and are not sent here.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { prepareSandbox } from '../../src/features/tenancy/accounts/projects/sandbox-project.ts'
import { ROUTES } from '../../src/http/route-table.ts'
import { users } from '../../src/store/schema/accounts.ts'
import { useCheapPasswords } from './cheap-passwords.ts'
import { createExampleDns, exampleOptions } from './example-preparations.ts'
import { createExampleRunner, type ExampleRunner } from './example-runner.ts'
import { exampleSequence } from './example-sequence.ts'
import { startService } from './service.ts'

/** Examples that need what only the reader has, and what it is. */
const NEEDS: Readonly<Record<string, string>> = {
  'POST /auth/verify-email': 'needs a mailed link',
  'POST /auth/reset-password': 'needs a mailed link',
  'POST /auth/accept-invitation': 'needs a mailed link',
  'POST /setup': 'needs the link of a server without users',
  'POST /users/@me/totp': 'needs the password of the session',
  'POST /users/@me/totp/confirm': 'needs a code of the second factor',
  'DELETE /users/@me/totp': 'needs a code of the second factor',
  'POST /templates/bulk-update': 'needs ids of templates',
  'POST /campaigns/bulk-update': 'needs ids of campaigns',
  'POST /workflows/bulk-update': 'needs ids of workflows',
  'POST /webhooks/incoming/stripe': 'needs the signature of Stripe',
}

const names = exampleSequence
  .map(({ name }) => name)
  .filter((name) => !name.includes(':') && ROUTES.some((row) => `${row[0]} ${row[1]}` === name))

let service: Awaited<ReturnType<typeof startService>>
let runner: ExampleRunner

useCheapPasswords()

before(async () => {
  const dns = createExampleDns()
  const settings = { PILLARBOX_DELIVERY__MODE: 'sandbox' }
  service = await startService({ ...exampleOptions(dns), settings })
  const made = await prepareSandbox(service.core)
  assert.ok(made?.kind === 'created')
  const [owner] = await service.core.store.read.select().from(users)
  const { public: publicKey, secret } = made.keys
  const mine = { id: made.project.id, ownerId: owner?.id ?? '', publicKey, secret }
  runner = createExampleRunner({ service, mine } as never, dns)
})

after(() => service.stop())

for (const name of names) {
  test(`the example of ${name} ${NEEDS[name] ?? 'works as it stands'}`, async () => {
    const step = exampleSequence.find((each) => each.name === name)
    assert.ok(step)
    const { headers, file, fields } = step
    const { send, credentials } = await runner.prepare({
      name,
      ...(headers && { headers }),
      ...(file && { file }),
      ...(fields && { fields }),
    })
    const { status, text } = await send(credentials)
    if (NEEDS[name] === undefined) assert.ok(status < 400, `${status} ${text}`)
    else assert.ok(status >= 400 && status < 500, `${status} ${text}`)
  })
}

/** Verification of addresses and of lists, by curl. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { curl, refused, serveFile, the, unlessCurl, untilDone } from './shared-client.ts'

serveFile()

describe('POST /v1/verify', unlessCurl, () => {
  const verify = async (email: unknown) =>
    (await curl('POST', '/v1/verify', { body: { email } })).body.data

  it('describes the address', async () => {
    assert.deepEqual(
      { ...(await verify('Ada+list@good.test')), reasons: [] },
      {
        ...{ email: 'Ada+list@good.test', valid: true, isDisposable: false, isAlias: false },
        ...{ isTypo: false, isPlusAddressed: true, isPersonalEmail: false, domainExists: true },
        ...{ hasWebsite: true, hasMxRecords: true, reasons: [] },
      },
    )
    assert.equal((await verify('ada@gmail.com')).isPersonalEmail, true)
    assert.equal((await verify('ada@mailinator.com')).isDisposable, true)
    assert.equal((await verify('ada@duck.com')).isAlias, true)
    const typo = await verify('ada@gmial.com')
    assert.equal(typo.isTypo, true)
    assert.equal(typo.suggestedEmail, 'ada@gmail.com')
    assert.equal(typo.domainExists, false)
    assert.equal(typo.valid, false)
    const unresolved = await verify('ada@nomail.test')
    assert.deepEqual(
      [unresolved.valid, unresolved.hasMxRecords, unresolved.hasWebsite],
      [false, false, true],
    )
    assert.ok(unresolved.reasons.length > 0)
  })

  it('does not call a domain missing when the resolver failed', async () => {
    const answer = await curl('POST', '/v1/verify', { body: { email: 'ada@broken.test' } })
    refused(answer, 503, 'EXTERNAL_SERVICE_ERROR')
    assert.match(answer.headers, /^retry-after: \d+/im)
    assert.equal(typeof answer.body.message, 'string')
  })

  it('requires the secret key and an address', async () => {
    const body = { email: 'ada@good.test' }
    refused(
      await curl('POST', '/v1/verify', { body, key: the().publicKey }),
      401,
      'INVALID_API_KEY',
    )
    refused(await curl('POST', '/v1/verify', { body: {} }), 422, 'VALIDATION_ERROR', 'email')
  })

  it('verifies a list as a job', async () => {
    const emails = ['ada@good.test', 'eve@mailinator.com', 'bob@broken.test', 'x@nomail.test']
    const { status, body } = await curl('POST', '/contacts/verify', { body: { emails } })
    assert.equal(status, 202)
    const done = await untilDone(`/contacts/verify/${body.jobId}`)
    assert.equal(done.body.state, 'completed', done.text)
    const { total, valid, invalid, unknown } = done.body.result.summary ?? done.body.result
    assert.deepEqual([total, valid, invalid, unknown], [4, 2, 1, 1])
  })
})

/** What a sender is told whose domain is not verified. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unverifiedSender } from '../../../../src/features/mail/domains/unverified-sender.ts'
import { domains } from '../../../../src/store/schema/domains.ts'
import { addProject, openTestCore, trustDomain } from '../../../core.ts'

test('the refusal names the verified domains, and how one is added', async (t) => {
  const core = await openTestCore(t)
  const project = await addProject(core)
  const other = await addProject(core)
  await trustDomain(core, other.id, 'other.test')
  const refused = () =>
    unverifiedSender(core.store.read, { projectId: project.id, domain: 'xn--bcher-kva.test' })
  const add = `To add one: pillarbox domain add --project ${project.id} xn--bcher-kva.test (or POST /domains).`
  const { code, message, suggestion } = await refused()
  assert.equal(code, 'FORBIDDEN')
  assert.equal(message, 'The sender domain bücher.test is not verified for this project.')
  assert.equal(suggestion, `No domain is verified here. ${add}`)
  await trustDomain(core, project.id, 'b.test')
  assert.equal((await refused()).suggestion, `Verified here: b.test. ${add}`)
  for (const name of ['c', 'a', 'd']) await trustDomain(core, project.id, `${name}.test`)
  assert.equal(
    (await refused()).suggestion,
    `Verified here: a.test, b.test, c.test and others. ${add}`,
  )
})

test('a domain that is added and not verified is not to be added again', async (t) => {
  const core = await openTestCore(t)
  const project = await addProject(core)
  await trustDomain(core, project.id, 'late.test')
  await core.store.write(async (tx) => {
    await tx.update(domains).set({ isVerified: false, isTrusted: false })
  })
  const sender = { projectId: project.id, domain: 'late.test' }
  const { suggestion = '' } = await unverifiedSender(core.store.read, sender)
  assert.match(
    suggestion,
    /late\.test is added, but not verified: pillarbox domain verify late\.test/,
  )
  assert.doesNotMatch(suggestion, /domain add/)
})

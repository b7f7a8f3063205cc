/** A user who is deleted between the admission of a request and its transaction. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptInvitation } from '../../../../../src/features/tenancy/accounts/invitations/accept.ts'
import { inviteMember } from '../../../../../src/features/tenancy/accounts/invitations/invite.ts'
import { hashPassword } from '../../../../../src/features/tenancy/accounts/passwords/passwords.ts'
import {
  createOwnProject,
  createProjectLimit,
} from '../../../../../src/features/tenancy/accounts/projects/own-projects.ts'
import {
  confirmTotp,
  disableTotp,
  startTotp,
} from '../../../../../src/features/tenancy/accounts/second-factor/second-factor.ts'
import { makeTotpSecret } from '../../../../../src/features/tenancy/accounts/second-factor/totp.ts'
import { requestVerification } from '../../../../../src/features/tenancy/accounts/sign-up/verify-address.ts'
import {
  changePassword,
  updatePreferences,
} from '../../../../../src/features/tenancy/accounts/users/edit-users.ts'
import { eq, isNotNull } from '../../../../../src/store/drizzle.ts'
import { invitations, users } from '../../../../../src/store/schema/accounts.ts'
import { jobs } from '../../../../../src/store/schema/jobs.ts'
import { addProject, openTestCore, type TestCore, trustDomain } from '../../../../core.ts'
import { addUser } from '../../../../session.ts'
import { codeOf } from '../totp-code.ts'

const PASSWORD = 'correct horse'
const { signal } = new AbortController()
const client = { ip: '192.0.2.9', userAgent: 'test' }
const secret = makeTotpSecret()

type User = { id: string; address: string }
/** `core` is for preparations: the first write with `deps` comes after the deletion. */
type Stage = { core: TestCore; deps: TestCore; user: User }

const given = ({ id: userId, address: account }: User) => ({
  ...{ userId, account, network: '192.0.2.9', device: undefined },
  wideNetwork: '192.0.2.0/24',
  ...{ password: PASSWORD, field: 'password', signal, session: { id: 'any' } },
})

const acts: Record<string, (stage: Stage) => Promise<unknown>> = {
  'creates a project': ({ deps, user }) =>
    createOwnProject(
      { ...deps, limit: createProjectLimit(deps.now) },
      { user: { id: user.id, isOperator: false }, name: 'Shop' },
    ),
  'accepts an invitation': async ({ core, deps, user: { id } }) => {
    const { id: projectId, ownerId: actorId } = await addProject(core)
    const address = 'invited@people.test'
    const invited = await inviteMember(core, { projectId, address, role: 'ADMIN', actorId })
    const token = invited.url?.split('/').at(-1) ?? ''
    const password = undefined
    const acceptance = { token, user: { id, address }, password, language: 'en', client, signal }
    return acceptInvitation(deps, { ...acceptance, wideNetwork: '192.0.2.0/24' })
  },
  'asks for a verification mail': async ({ core, deps, user: { id } }) => {
    await trustDomain(core, (await addProject(core)).id, 'example.test')
    return requestVerification(deps, { id, verifiedAt: null })
  },
  'changes the language': ({ deps, user }) => updatePreferences(deps, user.id, { language: 'de' }),
  'changes the password': ({ deps, user }) =>
    changePassword(deps, { ...given(user), newPassword: 'another horse' }),
  'makes a second factor': ({ deps, user }) => startTotp(deps, given(user)),
  'confirms a second factor': ({ core, deps, user }) =>
    confirmTotp(deps, { ...given(user), code: codeOf(secret, core.now()) }),
  'turns a second factor off': async ({ core, deps, user }) => {
    const on = { totpConfirmedAt: core.now() }
    await core.store.write((tx) => tx.update(users).set(on).where(eq(users.id, user.id)))
    return disableTotp(deps, { ...given(user), code: codeOf(secret, core.now()) })
  },
}

for (const [name, act] of Object.entries(acts)) {
  test(`who ${name} and is deleted meanwhile has no session, and nothing is stored`, async (t) => {
    const core = await openTestCore(t, { settings: { PILLARBOX_DELIVERY__MODE: modeOf(name) } })
    const user = await addUser(core, {
      ...{ passwordHash: await hashPassword(PASSWORD), totpSecret: core.keyring.seal(secret) },
    })
    const deps = { ...core, store: { ...core.store, write: writeAfterDeletion(core, user) } }
    await assert.rejects(act({ core, deps, user }), { code: 'UNAUTHORIZED', status: 401 })
    assert.equal(await core.store.read.$count(users, eq(users.id, user.id)), 0)
    const accepted = core.store.read.$count(invitations, isNotNull(invitations.acceptedAt))
    assert.equal(await accepted, 0)
    assert.equal(await core.store.read.$count(jobs), 0)
  })
}

/** Only a server that mails its users has verification mails; only one without shows the link. */
const modeOf = (name: string) => (name.includes('mail') ? 'sandbox' : 'direct')

function writeAfterDeletion({ store }: TestCore, { id }: User): TestCore['store']['write'] {
  return async (act, options) => {
    await store.write((tx) => tx.delete(users).where(eq(users.id, id)))
    return store.write(act, options)
  }
}

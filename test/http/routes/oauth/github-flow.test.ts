/** Logins with GitHub, and who gets an account. */
import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { AppError } from '../../../../src/base/errors.ts'
import type { AccountsConfig } from '../../../../src/config/config.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import {
  identities,
  invitations,
  memberships,
  projects,
  users,
} from '../../../../src/store/schema/accounts.ts'
import { addProject } from '../../../core.ts'
import { type IdentityServer, startIdentityServer } from '../../../fakes/identity-server.ts'
import { addUser } from '../../../session.ts'
import type { Browser, Visit } from './browser.ts'
import { BASE_URL, type LoginServer, startLoginServer } from './login-server.ts'

let provider: IdentityServer
before(async () => {
  provider = await startIdentityServer()
})
after(() => provider.stop())

async function open(
  t: TestContext,
  change: Partial<AccountsConfig> = {},
  isSetUp = true,
): Promise<LoginServer> {
  const { client, origin, github } = provider
  return startLoginServer(t, {
    isSetUp,
    accounts: {
      ...{ github: client, disableSignups: false },
      oidc: { ...client, name: 'X', issuer: origin, trustEmail: false, allowSignup: false },
      ...change,
    },
    sites: { googleIssuer: origin, github },
  })
}

async function login(browser: Browser, name: 'github' | 'oidc' = 'github'): Promise<Visit> {
  const { location } = await browser.get(`/oauth/${name}/outbound`)
  const state = location?.searchParams.get('state')
  const code = provider.agree(location!)
  return browser.get(`/oauth/${name}/callback?code=${code}&state=${state}`, {
    'accept-language': 'nl-BE',
  })
}

const errorOf = ({ location }: Visit) => location?.searchParams.get('error')

/** New addresses are checked, and all DNS queries of the check have this answer. */
function checkAddresses(server: LoginServer, answer: object): void {
  server.core.config.accounts.verifyEmailOnSignup = true
  const ask = async () => ({ expiresAt: 0, ...answer })
  const dns = { ...server.core.verifier.dns, mx: ask, a: ask, aaaa: ask }
  server.core.verifier = { ...server.core.verifier, dns: dns as never }
}

/** Runs `act` with other addresses at GitHub. */
async function withAddresses<T>(emails: unknown, act: () => Promise<T>): Promise<T> {
  const before = provider.githubUser.emails
  provider.githubUser.emails = emails
  try {
    return await act()
  } finally {
    provider.githubUser.emails = before
  }
}

describe('a login with GitHub', () => {
  it('asks for the addresses and takes the primary one', async (t) => {
    const server = await open(t)
    const browser = server.browser()
    const { location } = await browser.get('/oauth/github/outbound')
    assert.equal(location?.searchParams.get('scope'), 'user:email')
    assert.equal(location?.searchParams.get('client_id'), 'pillarbox')
    assert.match(location?.searchParams.get('code_challenge') ?? '', /^[\w-]{43}$/)
    assert.equal((await login(browser)).location?.href, `${BASE_URL}/app`, server.log.join(''))
    const people = await server.people()
    assert.deepEqual(
      people.users.map(({ address, method, language }) => [address, method, language]),
      [['ann@people.test', 'GITHUB', 'nl']],
    )
    const [identity] = people.identities
    assert.deepEqual([identity?.issuer, identity?.subject], [provider.github.issuer, '4711'])
  })

  it('knows the user by the id, and asks for no addresses then', async (t) => {
    const server = await open(t)
    await login(server.browser())
    provider.asked.length = 0
    const other = [{ email: 'new@people.test', primary: true, verified: false }]
    const visit = await withAddresses(other, () => login(server.browser()))
    assert.equal(visit.location?.pathname, '/app')
    assert.ok(!provider.asked.includes('/user/emails'))
    const { users, sessions } = await server.people()
    assert.deepEqual([users.length, users[0]!.address, sessions.length], [1, 'ann@people.test', 2])
  })

  it('takes the answer that names GitHub as its issuer', async (t) => {
    const browser = (await open(t)).browser()
    const { location } = await browser.get('/oauth/github/outbound')
    const query = new URLSearchParams({
      code: provider.agree(location!),
      state: location!.searchParams.get('state')!,
      iss: provider.github.issuer,
    })
    const visit = await browser.get(`/oauth/github/callback?${query}`)
    assert.equal(visit.location?.pathname, '/app')
  })

  const addresses: [name: string, emails: unknown, code: string][] = [
    [
      'whose primary address is not verified',
      [
        { email: 'ann@people.test', primary: true, verified: false },
        { email: 'other@people.test', primary: false, verified: true },
      ],
      'email_unverified',
    ],
    ['without an address', [], 'email_unverified'],
    [
      'with an address that is none',
      [{ email: 'ann', primary: true, verified: true }],
      'email_unverified',
    ],
    [
      'with a text for a boolean',
      [{ email: 'ann@people.test', primary: true, verified: 'no' }],
      'provider_error',
    ],
    ['with something else', { message: 'Not Found' }, 'provider_error'],
  ]
  for (const [name, emails, code] of addresses) {
    it(`makes no account for a user ${name}`, async (t) => {
      const server = await open(t)
      assert.equal(errorOf(await withAddresses(emails, () => login(server.browser()))), code)
      const { users, identities, sessions } = await server.people()
      assert.deepEqual([users, identities, sessions], [[], [], []])
    })
  }

  for (const id of [null, '4711', -1, 1.5, 2 ** 60]) {
    it(`refuses the id ${String(id)}`, async (t) => {
      const server = await open(t)
      const { githubUser } = provider
      githubUser.id = id
      try {
        assert.equal(errorOf(await login(server.browser())), 'provider_error')
      } finally {
        githubUser.id = 4711
      }
      assert.deepEqual((await server.people()).users, [])
    })
  }
})

describe('a new user', () => {
  it('is refused when sign-ups are disabled, and known ones still log in', async (t) => {
    const server = await open(t, { disableSignups: true })
    assert.equal(errorOf(await login(server.browser())), 'signup_disabled')
    assert.deepEqual((await server.people()).users, [])
    const at = server.core.now()
    await server.core.store.write(async (tx) => {
      const times = { createdAt: at, updatedAt: at }
      await tx
        .insert(users)
        .values({ id: 'u', address: 'x@people.test', method: 'GITHUB', ...times })
      const { issuer } = provider.github
      await tx.insert(identities).values({ issuer, subject: '4711', userId: 'u', createdAt: at })
    })
    assert.equal((await login(server.browser())).location?.pathname, '/app')
  })

  it('S39: is refused before the server has its first user', async (t) => {
    const server = await open(t, {}, false)
    assert.equal(errorOf(await login(server.browser())), 'setup_needed')
    const { users, identities, sessions } = await server.people()
    assert.deepEqual([users, identities, sessions], [[], [], []])
    await addUser(server.core)
    assert.equal((await login(server.browser())).location?.pathname, '/app')
  })

  it('is refused with an address that no person keeps, with accounts.verify_email_on_signup', async (t) => {
    const server = await open(t)
    checkAddresses(server, { kind: 'nodata' })
    assert.equal(errorOf(await login(server.browser())), 'address_refused')
    checkAddresses(server, { kind: 'failed', error: 'timeout' })
    assert.equal(errorOf(await login(server.browser())), 'other')
    assert.deepEqual((await server.people()).users, [])
    checkAddresses(server, { kind: 'found', records: [{ preference: 10, host: 'mx.test' }] })
    assert.equal((await login(server.browser())).location?.pathname, '/app')
    checkAddresses(server, { kind: 'nxdomain' })
    assert.equal((await login(server.browser())).location?.pathname, '/app', 'a known user')
  })

  it('of the OpenID provider gets an account with accounts.oidc.allow_signup, others do not', async (t) => {
    const { client, origin } = provider
    const oidc = { ...client, name: 'X', issuer: origin, trustEmail: false, allowSignup: true }
    const server = await open(t, { disableSignups: true, oidc })
    assert.equal(errorOf(await login(server.browser(), 'github')), 'signup_disabled')
    assert.equal((await login(server.browser(), 'oidc')).location?.pathname, '/app')
  })

  it('with an address of another method is told so, even when sign-ups are disabled', async (t) => {
    const server = await open(t)
    await login(server.browser(), 'github')
    assert.equal(errorOf(await login(server.browser(), 'oidc')), 'method_mismatch')
    assert.equal((await server.people()).users.length, 1)
  })

  it('is not made twice by two logins at a time', async (t) => {
    const server = await open(t)
    const visits = await Promise.all([login(server.browser()), login(server.browser())])
    assert.deepEqual(
      visits.map(({ location }) => location?.pathname),
      ['/app', '/app'],
    )
    const people = await server.people()
    assert.deepEqual([people.users.length, people.identities.length], [1, 1])
  })

  it('is not made on a nearly full disk', async (t) => {
    const server = await open(t)
    server.core.disk.isLow = () => true
    const visit = await login(server.browser())
    assert.deepEqual([visit.status, visit.location?.pathname], [302, '/app/login'])
    assert.equal(errorOf(visit), 'unavailable')
    assert.deepEqual((await server.people()).users, [])
  })

  const faults: [error: Error, code: string, logged: RegExp][] = [
    [new AppError('DATABASE_ERROR', 'The database is busy.'), 'unavailable', /DATABASE_ERROR/],
    [new AppError('EXTERNAL_SERVICE_ERROR', 'Too many.'), 'unavailable', /EXTERNAL_SERVICE_ERROR/],
    [new AppError('EXTERNAL_SERVICE_ERROR', 'x', { isOverload: true }), 'unavailable', /^$/],
    [new AppError('CONFLICT', 'It is there already.'), 'other', /CONFLICT.+It is there already/],
    [new TypeError('a fault of the server'), 'other', /a fault of the server/],
  ]
  for (const [fault, code, logged] of faults) {
    it(`leads the browser to the login page after "${fault.message}", and logs the cause`, async (t) => {
      const server = await open(t)
      const browser = server.browser()
      const { store } = server.core
      server.core.store = { ...store, write: () => Promise.reject(fault) }
      const visit = await login(browser)
      assert.deepEqual([visit.status, visit.location?.pathname], [302, '/app/login'])
      assert.equal(errorOf(visit), code)
      assert.equal(visit.text, '')
      assert.match(server.log.join(''), logged)
      assert.deepEqual([...browser.jar.keys()], [])
      assert.deepEqual((await server.people()).sessions, [])
    })
  }
})

describe('an invitation for the address', () => {
  type Change = Partial<typeof invitations.$inferInsert>

  async function invite(server: LoginServer, change: Change = {}) {
    const { core } = server
    const { id: projectId, ownerId: invitedBy } = await addProject(core)
    const at = core.now()
    await core.store.write((tx) =>
      tx.insert(invitations).values({
        ...{ id: 'i', projectId, address: 'ann@people.test', role: 'MEMBER', invitedBy },
        ...{ isMailed: true, createdAt: at, expiresAt: at + 1_000_000 },
        ...change,
      }),
    )
    return { projectId, invitedBy }
  }

  it('lets its user in though sign-ups are disabled; it is accepted separately', async (t) => {
    const server = await open(t, { disableSignups: true })
    await invite(server)
    assert.equal((await login(server.browser())).location?.pathname, '/app')
    const [open_] = await server.core.store.read.select().from(invitations)
    assert.equal(open_?.acceptedAt, null)
  })

  const closed: [name: string, change: (at: number) => Change][] = [
    ['for another address', () => ({ address: 'bob@people.test' })],
    ['that is over', (at) => ({ expiresAt: at })],
    ['that was accepted', (at) => ({ acceptedAt: at })],
    ['that was revoked', (at) => ({ revokedAt: at })],
  ]
  for (const [name, change] of closed) {
    it(`${name} does not`, async (t) => {
      const server = await open(t, { disableSignups: true })
      await invite(server, change(server.core.now()))
      assert.equal(errorOf(await login(server.browser())), 'signup_disabled')
    })
  }

  it('to a deleted project, or of an inviter who lost the role, does not', async (t) => {
    const server = await open(t, { disableSignups: true })
    const { projectId, invitedBy } = await invite(server)
    const { store } = server.core
    await store.write((tx) =>
      tx.update(projects).set({ deletedAt: 1 }).where(eq(projects.id, projectId)),
    )
    assert.equal(errorOf(await login(server.browser())), 'signup_disabled')
    await store.write(async (tx) => {
      await tx.update(projects).set({ deletedAt: null }).where(eq(projects.id, projectId))
      await tx.update(memberships).set({ role: 'MEMBER' }).where(eq(memberships.userId, invitedBy))
    })
    assert.equal(errorOf(await login(server.browser())), 'signup_disabled')
  })
})

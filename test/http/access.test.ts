/**
 * Calls every route with every kind of caller. The steps are those of the examples, so the records that
 * a call names exist and its body is valid: only the caller decides. A refused call changes nothing. An
 * allowed one answers as its example does, and changes the tables that its step names (`effects`), or those that
 * `effectsOf` expects.
 */
import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { updateProject } from '../../src/features/tenancy/accounts/projects/projects.ts'
import { endSessions } from '../../src/features/tenancy/accounts/sessions/sessions.ts'
import { sessionCookieName } from '../../src/http/exchange/cookies.ts'
import { ROUTES } from '../../src/http/route-table.ts'
import { and, eq } from '../../src/store/drizzle.ts'
import { memberships } from '../../src/store/schema/accounts.ts'
import type { Role } from '../../src/store/schema/words.ts'
import { addMember, addUser, logIn } from '../session.ts'
import { changedTables, digestTables } from './digest-tables.ts'
import { match } from './example-match.ts'
import { createExampleDns, type ExampleStep, exampleOptions } from './example-preparations.ts'
import {
  callersOf,
  contentOf,
  createExampleRunner,
  type ExampleRunner,
  type Headers,
} from './example-runner.ts'
import { exampleSequence } from './example-sequence.ts'
import { findRoute } from './listed-routes.ts'
import { OPEN_PAGES } from './open-pages.ts'
import { type StartedService, useService } from './service.ts'

const NO_PROJECT = '0199a7c0-0000-7000-8000-0000000000fe'

type Callers = ReturnType<typeof callersOf>
/** Null where a caller is admitted, or acts on records of its own. */
type Expectation = readonly [status: number, code: string] | null

const noKey = [401, 'MISSING_AUTH'] as const
const wrongKey = [401, 'INVALID_API_KEY'] as const
const noLogin = [401, 'UNAUTHORIZED'] as const
const notMine = [404, 'RESOURCE_NOT_FOUND'] as const
const noAccess = [403, 'PROJECT_ACCESS_DENIED'] as const
const noProject = [400, 'BAD_REQUEST'] as const
const forbidden = [403, 'FORBIDDEN'] as const
const unverified = [403, 'EMAIL_VERIFICATION_REQUIRED'] as const
const disabled = [403, 'PROJECT_DISABLED'] as const

/** What callers of routes have in common; the columns below. */
const GROUPS: Readonly<Record<Exclude<Callers, 'anyone'>, number>> = {
  'any key': 0,
  'secret key': 0,
  member: 1,
  admin: 1,
  'member of :id': 2,
  'admin of :id': 2,
  'member of :id or its key': 3,
  session: 4,
  'verified session': 4,
  'verified session or key': 5,
  'operator or monitor': 6,
}

/** The response has the caller's role, or the people of these tests. The public key: `routes/public-key.test.ts`. */
const DEPENDS_ON_CALLER = [
  ...['PATCH /users/@me/projects/:id', 'GET /projects/:id/members', 'POST /v1/track'],
]

const ALL_LOGIN: Expectation[] = [noKey, noLogin, noLogin, noLogin, noLogin, noLogin, noLogin]

/** One row for each kind of caller. `refine` has the rest. */
const MATRIX: Readonly<Record<string, readonly Expectation[]>> = {
  nobody: [noKey, noKey, noLogin, noKey, noLogin, noKey, noLogin],
  'another scheme': [noKey, noKey, noLogin, noKey, noLogin, noKey, noLogin],
  'an unknown key': [wrongKey, wrongKey, noLogin, wrongKey, noLogin, wrongKey, noLogin],
  'the public key': [wrongKey, wrongKey, noLogin, wrongKey, noLogin, wrongKey, noLogin],
  'the secret key': [null, null, noLogin, null, noLogin, null, noLogin],
  'the key of another project': [null, null, noLogin, notMine, noLogin, null, noLogin],
  'the key of a disabled project': [null, null, noLogin, notMine, noLogin, null, noLogin],
  'a user who is no member': [noKey, noAccess, notMine, notMine, null, null, forbidden],
  'an operator who is no member': [noKey, noAccess, notMine, notMine, null, null, null],
  'an unverified admin': [
    ...[noKey, unverified, unverified, unverified, unverified, unverified, unverified],
  ],
  'an ended session': ALL_LOGIN,
  'a forged session': ALL_LOGIN,
  'a MEMBER': [noKey, null, null, null, null, null, forbidden],
  'a member who names no project': [noKey, noProject, null, null, null, null, forbidden],
  'a member of a disabled project': [noKey, null, notMine, notMine, null, null, forbidden],
  'a page of another site': [noKey, null, null, null, null, null, null],
}

/** `isRead`: also by POST. Such operations work on disabled projects. */
function expectationOf({ name }: ExampleStep, kind: string, isRead: boolean): Expectation {
  const callers = callersOf(name)
  if (kind === 'a page of another site') {
    if (name.startsWith('GET ')) return null
    if (callers === 'anyone') return /^POST \/(?:auth\/|setup$)/.test(name) ? forbidden : null
    return GROUPS[callers] === 0 ? noKey : forbidden
  }
  if (callers === 'anyone') return null
  const refined = refine({ name, callers, isRead }, kind)
  return refined === undefined ? (MATRIX[kind]?.[GROUPS[callers]] ?? null) : refined
}

/** Where a row of the matrix is not enough. Undefined: the matrix decides. */
function refine(
  { name, callers, isRead }: { name: string; callers: Callers; isRead: boolean },
  kind: string,
): Expectation | undefined {
  const isData = ['any key', 'secret key', 'member', 'admin'].includes(callers)
  switch (kind) {
    case 'the public key':
      return callers === 'any key' ? null : undefined
    case 'the key of another project':
      return isData && /:(id|\w+Id)\b/.test(name) ? [404, 'any'] : undefined
    case 'the key of a disabled project':
      return isData && !isRead ? disabled : undefined
    case 'a member of a disabled project':
      return ['member', 'admin'].includes(callers) && !isRead ? disabled : undefined
    case 'an unverified admin':
      return callers === 'session' ? null : undefined
    case 'a MEMBER':
      return needsAdmin(name, callers) ? forbidden : undefined
    default:
      return undefined
  }
}

/** Members may remove themselves without the role; the example removes another one. */
function needsAdmin(name: string, callers: Callers): boolean {
  if (name === 'DELETE /projects/:id/members/:userId') return true
  return callers === 'admin' || callers === 'admin of :id'
}

/** The credentials of every kind of caller. */
async function makeCallers({ service, mine, other }: StartedService) {
  const { core } = service
  const person = async (
    role: 'MEMBER' | 'ADMIN' | null,
    change: Parameters<typeof addUser>[1] = {},
    projectId = mine.id,
  ) => {
    const { id: userId } = await addUser(core, change)
    if (role !== null) await addMember(core, { projectId, userId, role })
    if (role !== null && projectId === mine.id) people.push({ userId, role })
    return { userId, headers: { cookie: await logIn(core, userId), 'x-project-id': projectId } }
  }
  const people: { userId: string; role: Role }[] = []
  const closed = await service.makeProject('disabled')
  await updateProject(core, closed.id, { disable: 'MANUAL' })
  const ended = await person('ADMIN')
  await core.store.write((tx) => endSessions(tx, ended.userId))
  const member = await person('MEMBER')
  const owner = { cookie: await logIn(core, mine.ownerId), 'x-project-id': mine.id }
  const forged = `${sessionCookieName(core.config)}=eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.`
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
  const { cookie } = member.headers
  const callers: Record<string, Headers> = {
    nobody: {},
    'another scheme': { authorization: 'Basic YTpi' },
    'an unknown key': bearer(`sk_${'0'.repeat(64)}`),
    'the public key': bearer(mine.public),
    'the secret key': { ...bearer(mine.secret), cookie, 'x-project-id': mine.id },
    'the key of another project': bearer(other.secret),
    'the key of a disabled project': bearer(closed.secret),
    'a user who is no member': (await person(null)).headers,
    'an operator who is no member': (await person(null, { isOperator: true })).headers,
    'an unverified admin': (await person('ADMIN', { verifiedAt: null })).headers,
    'an ended session': ended.headers,
    'a forged session': { cookie: forged, 'x-project-id': mine.id },
    'a MEMBER': member.headers,
    'a member who names no project': { cookie },
    'a member of a disabled project': (await person('ADMIN', {}, closed.id)).headers,
    'a page of another site': { ...owner, 'sec-fetch-site': 'cross-site' },
  }
  const admin = (await person('ADMIN')).headers
  return { callers, people, owner, member: member.headers, admin }
}

const idle = { note: () => undefined, flush: async () => undefined, stop: async () => undefined }

type Stage = Awaited<ReturnType<typeof makeCallers>>

/** Each walk has a service of its own, because its calls make, change and delete records. */
function useStage(): { started: StartedService; runner: ExampleRunner; stage: Stage } {
  const dns = createExampleDns()
  const stage = {} as Stage
  const options = { ...exampleOptions(dns), lastUsed: idle }
  const started = useService(options, async (made) => {
    Object.assign(stage, await makeCallers(made))
  })
  return { started, runner: createExampleRunner(started, dns), stage }
}

/** Makes the call of an example; the response and the changed tables are those expected. */
async function perform(
  { started, runner }: Pick<ReturnType<typeof useStage>, 'started' | 'runner'>,
  step: ExampleStep,
  { prepared, headers, query = {} }: Performance,
): Promise<void> {
  const { example, send } = prepared
  const before = await digestTables(started.service.core)
  const answer = await send(headers, query)
  assert.equal(answer.status, example.status, answer.text)
  if (!DEPENDS_ON_CALLER.includes(step.name)) {
    match(example.response, contentOf(answer), runner.bindings)
  }
  const changed = changedTables(before, await digestTables(started.service.core))
  assert.deepEqual(changed, effectsOf(started, step, example), 'a step may name its `effects`')
}

/** The tables that a call changes, in order. */
function effectsOf(
  { service }: StartedService,
  { name, effects }: ExampleStep,
  { response }: { response?: unknown },
): readonly string[] {
  if (effects !== undefined) return effects
  if (findRoute(service.core, name).isRead) return []
  if (Object(response).jobId !== undefined) return ['jobs']
  return [name.split('/')[1]?.replaceAll('-', '_') ?? '']
}

type Stages = ReturnType<typeof useStage>
type Staged = Pick<Stages, 'started' | 'stage'>
type Prepared = Performance['prepared']

async function callRefused(
  { started, stage }: Staged,
  step: ExampleStep,
  { send }: Prepared,
): Promise<void> {
  const { core } = started.service
  const before = await digestTables(core)
  // Only where the server can send mail must users verify their addresses.
  const { mailProject } = core.config.accounts
  const { isRead } = findRoute(core, step.name)
  core.config.accounts.mailProject = mailProject ?? NO_PROJECT
  for (const [kind, headers] of Object.entries(stage.callers)) {
    const expected = expectationOf(step, kind, isRead)
    if (expected === null) continue
    const { status, body } = await send(headers)
    const [code] = expected[1] === 'any' ? ['any'] : [body.error?.code]
    assert.deepEqual([status, code], expected, `${kind}: ${JSON.stringify(body)}`)
  }
  core.config.accounts.mailProject = mailProject
  const changed = changedTables(before, await digestTables(core))
  assert.deepEqual(changed, [], 'a refused call changed something')
}

/** Some examples are about a project of their own, whose members the callers are meanwhile. */
async function asMembers(
  { started, stage }: Staged,
  { callers, pathId }: Prepared,
  act: () => Promise<void>,
): Promise<void> {
  const { service, mine } = started
  const isInPath = callers.endsWith('of :id') || callers.endsWith('its key')
  if (!isInPath || pathId === undefined || pathId === mine.id) return act()
  for (const { userId, role } of stage.people) {
    await addMember(service.core, { projectId: pathId, userId, role })
  }
  await act()
  await service.core.store.write(async (tx) => {
    for (const { userId } of stage.people) {
      await tx
        .delete(memberships)
        .where(and(eq(memberships.projectId, pathId), eq(memberships.userId, userId)))
    }
  })
}

type Performance = {
  prepared: Awaited<ReturnType<ExampleRunner['prepare']>>
  headers: Headers
  query?: Record<string, string>
}

/** A member with the least role that is admitted, or the public key; else the caller of the example. */
async function performAsLeast(
  staged: Stages,
  step: ExampleStep,
  prepared: Prepared,
): Promise<void> {
  const { stage } = staged
  const { callers, credentials } = prepared
  const own = needsAdmin(step.name, callers) ? stage.admin : stage.member
  const allowed = callers === 'any key' ? stage.callers['the public key'] : credentials
  const headers = takesMember(step, callers) ? own : (allowed ?? {})
  await asMembers(staged, prepared, () => perform(staged, step, { prepared, headers }))
}

/** The owner may name the project of a GET in its query. */
async function performAsOwner(
  staged: Stages,
  step: ExampleStep,
  prepared: Prepared,
): Promise<void> {
  const { started, stage } = staged
  const { callers, credentials } = prepared
  if (!takesMember(step, callers)) {
    return perform(staged, step, { prepared, headers: credentials })
  }
  const { cookie } = stage.owner
  const isByQuery = step.name.startsWith('GET ') && ['member', 'admin'].includes(callers)
  const headers = isByQuery ? { cookie } : stage.owner
  const query: Headers = isByQuery ? { projectId: started.mine.id } : {}
  await perform(staged, step, { prepared, headers, query })
}

describe('callers that a route does not admit change nothing, and those that it admits have effect', () => {
  const staged = useStage()
  for (const step of exampleSequence) {
    it(step.name, async () => {
      const prepared = await staged.runner.prepare(step)
      await asMembers(staged, prepared, () => callRefused(staged, step, prepared))
      await perform(staged, step, { prepared, headers: prepared.credentials })
      if (!isOnlyRead(step)) return
      await performAsLeast(staged, step, prepared)
      await performAsOwner(staged, step, prepared)
    })
  }
})

describe('the public key, and members with the least role, have the effect of the secret key', () => {
  walkChanges(performAsLeast)
})

describe('the owner has the effect of the key', () => {
  walkChanges(performAsOwner)
})

/** Describes a walk over the routes that change something; the reads between show what was written. */
function walkChanges(performAs: typeof performAsOwner): void {
  const staged = useStage()
  let reads: ExampleStep[] = []
  for (const step of exampleSequence) {
    if (isOnlyRead(step)) {
      reads.push(step)
      continue
    }
    const before = reads
    reads = []
    it(step.name, async () => {
      for (const read of before) {
        await performAs(staged, read, await staged.runner.prepare(read))
      }
      await performAs(staged, step, await staged.runner.prepare(step))
    })
  }
}

/** All callers of such a route can read the same. */
function isOnlyRead({ name, effects }: ExampleStep): boolean {
  return name.startsWith('GET ') && effects === undefined
}

/** Whether a member may call the route in a project. A step with a cookie of its own needs that one. */
function takesMember(step: ExampleStep, callers: Callers): boolean {
  const groups = ['member', 'admin', 'member of :id', 'admin of :id', 'member of :id or its key']
  return step.cookie === undefined && groups.includes(callers)
}

test('the walk has no page that is no route', () => {
  const names = ROUTES.map(([method, path]) => `${method} ${path}`)
  assert.deepEqual(
    OPEN_PAGES.filter((name) => !names.includes(name)),
    [],
  )
})

/**
 * Who makes a request: the holder of one of a project's keys, a user who has logged in, or a user who
 * acts in a project of theirs. Each route names the callers that it admits (`http/route-table.ts`);
 * `RULES` says what the names mean, and `admit.ts` applies them.
 */
import type { LoginSession, Project, User } from '../../../../store/schema/accounts.ts'
import type { Role } from '../../../../store/schema/words.ts'

type KeyKind = 'public' | 'secret'

/** The user of a session, as of this request. */
export type SessionUser = Pick<
  User,
  | 'id'
  | 'address'
  | 'method'
  | 'isOperator'
  | 'isSandbox'
  | 'verifiedAt'
  | 'onlyProjectId'
  | 'language'
  | 'timezone'
>

export type KeyCaller = { kind: 'key'; key: KeyKind; project: Project }
export type UserCaller = { kind: 'user'; user: SessionUser; session: LoginSession }
export type MemberCaller = Omit<UserCaller, 'kind'> & {
  kind: 'member'
  role: Role
  project: Project
}

export type Caller = KeyCaller | UserCaller | MemberCaller
/** Callers that act in a project. */
export type ProjectCaller = KeyCaller | MemberCaller

/**
 * Which project a route is about. `header`: the project that X-Project-Id names. `path`: the
 * project of the `:id` in the path; a key must belong to that project. `null`: no project.
 */
type Rule = {
  keys: readonly KeyKind[]
  /**
   * Whether the route is about data of the project. Such routes are closed while the project is
   * being reset.
   */
  isData: boolean
  /** What a session needs; null if the route admits no sessions. */
  session: {
    project: 'header' | 'path' | null
    /** The least role that the user must have in the project. */
    role?: 'MEMBER' | 'ADMIN'
    mayBeUnverified?: boolean
    needsOperator?: boolean
  } | null
}

const RULES = {
  'any key': { keys: ['secret', 'public'], isData: true, session: null },
  'secret key': { keys: ['secret'], isData: true, session: null },
  member: { keys: ['secret'], isData: true, session: { project: 'header', role: 'MEMBER' } },
  admin: { keys: ['secret'], isData: true, session: { project: 'header', role: 'ADMIN' } },
  'member of :id': { keys: [], isData: false, session: { project: 'path', role: 'MEMBER' } },
  'admin of :id': { keys: [], isData: false, session: { project: 'path', role: 'ADMIN' } },
  'member of :id or its key': {
    keys: ['secret'],
    isData: false,
    session: { project: 'path', role: 'MEMBER' },
  },
  session: { keys: [], isData: false, session: { project: null, mayBeUnverified: true } },
  'verified session': { keys: [], isData: false, session: { project: null } },
  'verified session or key': { keys: ['secret'], isData: false, session: { project: null } },
  /** A request from an address of `http.metrics_allow` needs no session. */
  'operator or monitor': {
    keys: [],
    isData: false,
    session: { project: null, needsOperator: true },
  },
} as const satisfies Record<string, Rule>

/** Callers that have to authenticate. */
export type KnownCallers = keyof typeof RULES
/** The callers that a route admits; `anyone` needs no credentials. */
export type Callers = 'anyone' | KnownCallers
/** The callers of operations on a project's data. */
export type ProjectCallers = 'any key' | 'secret key' | 'member' | 'admin' | PathCallers
type PathCallers = 'member of :id or its key'
export type MemberCallers = 'member of :id' | 'admin of :id'
export type SessionCallers = 'session' | 'verified session'

export function ruleOf(callers: KnownCallers): Rule {
  return RULES[callers]
}

/** Names a caller for limits that apply to each caller separately. */
export function callerName(caller: Caller): string {
  return caller.kind === 'key' ? `${caller.key} ${caller.project.id}` : `user ${caller.user.id}`
}

/** Returns the user who calls; null for a key, and for nobody. */
export function userIdOf(caller: Caller | null): string | null {
  return caller === null || caller.kind === 'key' ? null : caller.user.id
}

/** Returns the project in which a caller acts; null if there is none. */
export function projectOf(caller: Caller | null): Project | null {
  return caller === null || caller.kind === 'user' ? null : caller.project
}

/**
 * Whether the caller may see the project's secrets: signing secrets, and the headers that
 * authenticate the requests of workflows.
 */
export function seesSecrets(caller: ProjectCaller): boolean {
  return caller.kind === 'key' ? caller.key === 'secret' : hasRole(caller.role, 'ADMIN')
}

export function hasRole(role: Role, least: 'MEMBER' | 'ADMIN'): boolean {
  return least === 'MEMBER' || role !== 'MEMBER'
}

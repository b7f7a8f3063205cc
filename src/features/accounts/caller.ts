/**
 * Who makes a request. Today every caller is the holder of one of a project's keys; another kind of
 * caller (a user's login session, an operator) becomes another member of `Caller`.
 */
import type { Project } from './project.ts'

type KeyKind = 'public' | 'secret'

export type Caller = { kind: 'key'; key: KeyKind; project: Project }

/** The callers that a route admits; `anyone` needs no credentials. */
export type Callers = 'anyone' | 'any key' | 'secret key'

/** Callers that have to authenticate. */
export type KeyCallers = Exclude<Callers, 'anyone'>

/** Names a caller for limits that apply to each caller separately. */
export function callerName({ key, project }: Caller): string {
  return `${key} ${project.id}`
}

export function admits(callers: KeyCallers, key: KeyKind): boolean {
  return callers === 'any key' || key === 'secret'
}

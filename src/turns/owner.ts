/**
 * The owner of the work that runs: a request or a run of a job. All that runs for it finds its owner by the
 * asynchronous context. Work that waits for a shared thread or resolver waits in the line of its owner.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { AppError } from '../base/errors.ts'

/** Each request and each run of a job has its own object. */
export type WorkOwner = {
  /**
   * The line that the work waits in: a project's id; for requests without a project, the name of a user or
   * of a network.
   */
  readonly key: string
  readonly isJob: boolean
  /** The client of a request, until the work has changed something (`goOn`); absent for jobs. */
  client?: WaitingClient | undefined
  /** The work has changed something (`goOn`): no limit refuses the rest of it, so that its result is told. */
  hasChanged?: boolean
}

/** The connection of a client: whether the client still waits for its response. */
export type WaitingClient = {
  /** Whether the client left before it had its whole response. */
  hasLeft(): boolean
  /** Calls `act` when the client leaves. Returns a function that cancels the call. */
  onLeave(act: () => void): () => void
}

/** Work of the server itself, and of commands. No limit applies to it. */
export const SYSTEM_OWNER: WorkOwner = { key: '', isJob: false }

const owners = new AsyncLocalStorage<WorkOwner>()

export function runFor<T>(owner: WorkOwner, act: () => T): T {
  return owners.run(owner, act)
}

/** Runs work whose result several callers wait for: it goes on when the client that began it leaves. */
export function runShared<T>(act: () => T): T {
  const { key, isJob } = currentOwner()
  return currentOwner() === SYSTEM_OWNER ? act() : owners.run({ key, isJob }, act)
}

/**
 * Call this when the current work changes something: from then on the work goes on when its client leaves.
 */
export function goOn(): void {
  const owner = owners.getStore()
  if (owner === undefined || owner === SYSTEM_OWNER) return
  owner.client = undefined
  owner.hasChanged = true
}

/** @throws AppError REQUEST_TIMEOUT when the client of the current work has left */
export function requireClient(): void {
  if (currentOwner().client?.hasLeft() === true) throw clientLeft()
}

export function currentOwner(): WorkOwner {
  return owners.getStore() ?? SYSTEM_OWNER
}

/** Nobody reads this error: it only ends the request. */
export function clientLeft(): AppError {
  return new AppError('REQUEST_TIMEOUT', 'The client has disconnected.')
}

/** What the operations of a run share, and the run of the plan's operations at their times. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Api } from '../client/api.ts'
import type { History } from '../history/history.ts'
import type { Operation, OperationKind } from '../plan/operations.ts'
import type { Server } from '../server/server.ts'
import type { Delivered, Sinks } from '../world/sinks.ts'

export type Project = { id: string; secret: string; api: Api }

export type Traffic = {
  main: Project
  erasures: Project
  history: History
  sinks: Sinks
  server: Server
  templateId: string
  workflowId: string
  submissionPort: number
  inboundPort: number
  hookUrl: string
  /** Commands that this version of the program has, beyond those that every version has. */
  commands: ReadonlySet<string>
  /** Messages that a report or a reply was written about. */
  reported: Set<string>
}

/** Recipients of the project `erasures` begin so. */
export const ERASED_PREFIX = 'erase'

export type Handler = (traffic: Traffic, operation: Operation) => Promise<void>

/** Resolves when every operation has ended. */
export async function runOperations(
  traffic: Traffic,
  operations: readonly Operation[],
  handlers: Record<OperationKind, Handler>,
): Promise<void> {
  const startedAt = performance.now()
  const running = new Set<Promise<void>>()
  for (const operation of operations) {
    await sleep(Math.max(0, startedAt + operation.at - performance.now()))
    const run = handlers[operation.kind](traffic, operation)
      .catch((error: unknown) => recordFault(traffic, operation, error))
      .finally(() => running.delete(run))
    running.add(run)
  }
  await Promise.all(running)
}

/** A fault of the run itself, or an answer of a wrong shape. */
function recordFault({ history }: Traffic, { kind }: Operation, error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  history.surprises.push({ at: Date.now(), what: kind, status: 0, text })
}

/** A message that a recipient of the project `main` has; undefined while there is none. */
export function pickDelivered(
  { sinks }: Pick<Traffic, 'sinks'>,
  lot: number,
  isWanted: (message: Delivered) => boolean = () => true,
): Delivered | undefined {
  const candidates = sinks.delivered.filter(
    (message) => !message.to.startsWith(ERASED_PREFIX) && isWanted(message),
  )
  return candidates[Math.floor(lot * candidates.length)]
}

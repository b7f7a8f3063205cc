/**
 * Whose scan is next. Each project has a line of its own and the lines take turns, so that a flood of
 * one delays mostly itself. Jobs stand behind requests, in lines of their own: one of theirs is taken
 * when no request waits, or when they were passed over a few times, so that no flood stops them.
 */

/** Who asks, for as long as it asks: one object a request or run of a job. */
export type ScanCaller = {
  /** Whose line it stands in: a project's id. */
  key: string
  isJob: boolean
}

export type ScanTurns<Scan> = {
  add(caller: ScanCaller, scan: Scan): void
  /** The next one, if any waits that may be taken. */
  take(mayBeJob: boolean): Scan | undefined
  /** How many wait in the line where the caller would stand. */
  countWaiting(caller: ScanCaller): number
}

const REQUESTS_PER_JOB = 4

export function createScanTurns<Scan>(): ScanTurns<Scan> {
  const requests = new Map<string, Scan[]>()
  const jobs = new Map<string, Scan[]>()
  let passedOver = 0
  const linesOf = ({ isJob }: ScanCaller) => (isJob ? jobs : requests)

  return {
    add(caller, scan) {
      const lines = linesOf(caller)
      const line = lines.get(caller.key)
      if (line === undefined) lines.set(caller.key, [scan])
      else line.push(scan)
    },
    take(mayBeJob) {
      if (!mayBeJob || jobs.size === 0) return takeFirst(requests)
      const isJob = requests.size === 0 || passedOver === REQUESTS_PER_JOB
      passedOver = isJob ? 0 : passedOver + 1
      return takeFirst(isJob ? jobs : requests)
    },
    countWaiting: (caller) => linesOf(caller).get(caller.key)?.length ?? 0,
  }
}

/** The first of the line whose turn it is; the rest of that line comes after all others. */
function takeFirst<Scan>(lines: Map<string, Scan[]>): Scan | undefined {
  const [turn] = lines
  if (turn === undefined) return undefined
  const [key, line] = turn
  lines.delete(key)
  const scan = line.shift()
  if (line.length > 0) lines.set(key, line)
  return scan
}

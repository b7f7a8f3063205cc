import { setImmediate as turn } from 'node:timers/promises'

/** What `work` comes to, and how often the event loop turned meanwhile; `each` runs in each turn. */
export async function countTurns<T>(
  work: Promise<T>,
  each?: () => Promise<unknown>,
): Promise<{ result: T; turns: number }> {
  let turns = 0
  let isOver = false
  const counting = (async () => {
    for (; !isOver; turns += 1) {
      await turn()
      await each?.()
    }
  })()
  try {
    return { result: await work, turns }
  } finally {
    isOver = true
    await counting
  }
}

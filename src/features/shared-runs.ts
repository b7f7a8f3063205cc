/**
 * Long work that must not run twice at a time: a caller who comes while it runs waits for the next
 * run, which begins when that one has ended, and shares it with all who came meanwhile. So everybody
 * gets what a run made that began after they asked, and no crowd makes more than one run wait.
 */

export type SharedRuns = {
  /** Runs `act`, now or as the next one of that name. The name tells what the result is. */
  take<T>(name: string, act: () => Promise<T>): Promise<T>
}

type Turn = { ended: Promise<unknown>; next: Promise<unknown> | undefined }

export function createSharedRuns(): SharedRuns {
  const turns = new Map<string, Turn>()

  function start(name: string, act: () => Promise<unknown>): Promise<unknown> {
    const running = act()
    const leave = () => {
      if (turn.next === undefined) turns.delete(name)
    }
    const turn: Turn = { ended: running.then(leave, leave), next: undefined }
    turns.set(name, turn)
    return running
  }

  return {
    take<T>(name: string, act: () => Promise<T>) {
      const turn = turns.get(name)
      if (turn === undefined) return start(name, act) as Promise<T>
      turn.next ??= turn.ended.then(() => start(name, act))
      return turn.next as Promise<T>
    },
  }
}

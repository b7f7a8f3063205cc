/** The client of a request that leaves when the test says so. */
import type { WaitingClient } from '../../src/turns/owner.ts'

export function fakeClient(): WaitingClient & { leave(): void; listeners(): number } {
  const acts = new Set<() => void>()
  let isGone = false
  return {
    hasLeft: () => isGone,
    onLeave(act) {
      acts.add(act)
      return () => acts.delete(act)
    },
    leave() {
      isGone = true
      for (const act of [...acts]) {
        acts.delete(act)
        act()
      }
    },
    listeners: () => acts.size,
  }
}

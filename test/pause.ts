/** The clock of the machine, also in tests that mock timers. */
const { setTimeout } = globalThis

/**
 * Lets threads, sockets and timers work for about a millisecond. A loop that waits for them must not take
 * the processor from them, as one that only yields to the event loop would.
 */
export function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 1)
  })
}

/** When the person last did something: screens ask for news less often once nobody acts. */
let last = Date.now()

for (const type of ['keydown', 'pointerdown', 'wheel'] as const) {
  addEventListener(
    type,
    () => {
      last = Date.now()
    },
    { passive: true, capture: true },
  )
}

/** Epoch milliseconds. */
export function lastInput(): number {
  return last
}

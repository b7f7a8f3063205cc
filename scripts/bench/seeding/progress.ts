/** Shows progress: on one line of a terminal, elsewhere one line for each step. */

export type Progress = {
  /** Begins a step. */
  step(name: string): void
  /** Updates the progress of the step. */
  at(done: number, total: number): void
  end(): void
}

export const silence: Progress = {
  step: () => undefined,
  at: () => undefined,
  end: () => undefined,
}

export function showProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  const beganAt = performance.now()
  let current = ''
  const seconds = () => `${((performance.now() - beganAt) / 1_000).toFixed(0)} s`
  const line = (text: string) => stream.isTTY && stream.write(`\r\x1b[K${text}`)
  return {
    step(name) {
      current = name
      if (!line(`${name} …`)) stream.write(`${seconds()}: ${name}\n`)
    },
    at: (done, total) => line(`${current} ${Math.floor((100 * done) / total)}% (${seconds()})`),
    end() {
      line('')
      stream.write(`seeded in ${seconds()}\n`)
    },
  }
}

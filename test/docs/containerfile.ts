/** The `Containerfile` of the guide, read as a builder of images reads it. */
import assert from 'node:assert/strict'
import { readPage } from './pages.ts'

export type Instruction = { name: string; text: string }

/** Of the reference of Containerfile(5). */
const KNOWN = [
  ...['ADD', 'ARG', 'CMD', 'COPY', 'ENTRYPOINT', 'ENV', 'EXPOSE', 'FROM', 'HEALTHCHECK', 'LABEL'],
  ...['ONBUILD', 'RUN', 'SHELL', 'STOPSIGNAL', 'USER', 'VOLUME', 'WORKDIR'],
]

export function readContainerfile(): Instruction[] {
  const { blocks } = readPage('src/docs/production.md')
  const texts = blocks.map(({ text }) => text).filter((text) => /^FROM /m.test(text))
  assert.equal(texts.length, 1)
  const lines = (texts[0] ?? '').replaceAll(/\\\n\s*/g, '').split('\n')
  return lines.map((line) => {
    const [, name = '', text = ''] = /^([A-Z]+) (\S.*)$/.exec(line) ?? []
    assert.ok(KNOWN.includes(name), `not an instruction: ${line}`)
    return { name, text }
  })
}

/** The command of `HEALTHCHECK … CMD […]`: program and arguments. */
export function healthCommand(instructions: readonly Instruction[]): string[] {
  const { text } = instructions.find(({ name }) => name === 'HEALTHCHECK') ?? { text: '' }
  const [, command = ''] = /(?:^| )CMD (\[.*\])$/.exec(text) ?? []
  return JSON.parse(command)
}

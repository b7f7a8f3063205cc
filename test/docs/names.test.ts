/** What the README and the guide name is in the program: metrics, keys, commands, options and paths. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { COUNTER_TEXTS, HISTOGRAM_TEXTS } from '../../src/base/metric-texts.ts'
import { COMMANDS, GROUPS } from '../../src/cli/commands.ts'
import { settingKeys, writableKeys } from '../../src/config/settings.ts'
import { listGauges } from '../../src/features/operation/metrics/list-gauges.ts'
import { answerGauges } from '../../src/http/metrics/metrics.ts'
import { ROUTES } from '../../src/http/route-table.ts'
import { useService } from '../http/service.ts'
import { type DocsPage, readPage, readPages } from './pages.ts'

const pages = readPages()

/** Code spans, and the lines of blocks, in which a line that goes on is one line. */
const codeOf = ({ codeSpans, blocks }: DocsPage): string[] => [
  ...codeSpans,
  ...blocks.flatMap(({ text }) => text.replaceAll(/\\\n\s*/g, ' ').split('\n')),
]

/** Each page with what it names and the program does not have. */
function assertKnown(
  find: (page: DocsPage) => Iterable<string>,
  isKnown: (name: string) => boolean,
  least: number,
): void {
  const named = pages.flatMap((page) => [...find(page)].map((name) => ({ file: page.file, name })))
  const unknown = named.filter(({ name }) => !isKnown(name))
  assert.deepEqual(unknown, [])
  assert.ok(named.length >= least, `only ${named.length} names were found`)
}

describe('metrics of the pages', () => {
  const { service } = useService()
  const labels = new Map<string, readonly string[]>()
  let metrics: string[]

  before(() => {
    for (const [name, counter] of Object.entries(COUNTER_TEXTS)) {
      labels.set(name, Object.keys(counter.labels))
    }
    for (const [name, { label }] of Object.entries(HISTOGRAM_TEXTS)) {
      labels.set(name, label === undefined || label === null ? [] : [label])
    }
    const answers = answerGauges({ load: () => ({ bytes: 0, waiting: 0 }) })
    const gauges = [...listGauges(service.core), ...answers].map(({ name }) => name)
    metrics = [...labels.keys(), ...gauges, 'pillarbox_http_request_duration_seconds']
  })

  it('are metrics of the server', () => {
    // A cookie is named alike.
    const isKnown = (name: string) =>
      name === 'pillarbox_session' ||
      metrics.includes(name) ||
      metrics.includes(name.replace(/_(?:bucket|sum|count)$/, ''))
    assertKnown(namedIn, isKnown, 30)
  })

  it('in the table of monitoring have their labels, and no metric is on no page', () => {
    const rows = tableOf(readPage('src/docs/monitoring.md'))
    for (const { name, given } of rows) {
      const known = labels.get(name)
      if (known !== undefined) assert.deepEqual(given.toSorted(), known.toSorted(), name)
    }
    const named = new Set([...rows.map(({ name }) => name), ...pages.flatMap(namedIn)])
    const isRow = ({ name }: { name: string }) => !metrics.includes(name)
    assert.deepEqual(rows.filter(isRow), [])
    assert.deepEqual(
      metrics.filter((name) => !named.has(name)),
      [],
    )
  })

  function namedIn(page: DocsPage): string[] {
    return codeOf(page).flatMap((text) => text.match(/\bpillarbox_[a-z0-9_]*[a-z0-9](?!\w)/g) ?? [])
  }

  /** `…_p99_seconds` is the metric before it with another end. */
  function tableOf({ text }: DocsPage): { name: string; given: string[] }[] {
    const [, table = ''] = text.split('(each begins with `pillarbox_`)')
    const rows = table.slice(0, table.indexOf('\n\n'))
    const spans = [...rows.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span)
    const whole = spans.filter((span) => !span.endsWith('…'))
    return whole.map((span, index) => {
      const [short = '', given] = span.replace('}', '').split('{')
      const before = whole.slice(0, index).findLast((one) => !one.includes('…')) ?? ''
      const name = short.replace('…', before.replace(/_p50_seconds$/, ''))
      return { name: `pillarbox_${name}`, given: given?.split(',') ?? [] }
    })
  }
})

describe('keys of the configuration on the pages', () => {
  const sections = new Set(settingKeys.flatMap((key) => prefixesOf(key)))
  const isKnown = (key: string) => writableKeys.includes(key) || sections.has(key)

  it('exist', () => {
    const find = (page: DocsPage) => page.codeSpans.filter((text) => looksLikeKey(text))
    assertKnown(find, isKnown, 200)
  })

  it('exist as variables of the environment', () => {
    const find = (page: DocsPage) =>
      codeOf(page)
        .flatMap((text) => text.match(/\bPILLARBOX_[A-Z0-9_]+/g) ?? [])
        .filter((name) => name !== 'PILLARBOX_KEY')
    const toKey = (name: string) =>
      name.slice('PILLARBOX_'.length).toLowerCase().replaceAll('__', '.')
    assertKnown(find, (name) => isKnown(toKey(name)), 4)
  })

  function prefixesOf(key: string): string[] {
    const parts = key.split('.').slice(0, -1)
    return parts.map((_, index) => parts.slice(0, index + 1).join('.'))
  }

  /** `delivery.hostname`, and neither `campaigns.md` nor `email.delivered`. */
  function looksLikeKey(text: string): boolean {
    if (!/^[a-z_]+(?:\.[a-z0-9_]+)+$/.test(text)) return false
    const [section = ''] = text.split('.')
    return sections.has(section) && !/\.(?:md|csv|ts|toml|json)$/.test(text)
  }
})

describe('commands of the pages', () => {
  const global = ['--config', '--json', '--help', '--version']

  it('exist, with their options', () => {
    assertKnown((page) => codeOf(page).flatMap(commandsIn), isKnownCommand, 100)
  })

  it('exist where only their words are named', () => {
    const groups = Object.keys(GROUPS)
    const isNamed = (text: string) =>
      groups.some((group) => new RegExp(`^${group} [a-z]+(?: |$)`).test(text))
    assertKnown((page) => page.codeSpans.filter(isNamed), isKnownCommand, 50)
  })

  /** The words after the name of the program, up to the end of its command. */
  function commandsIn(text: string): string[] {
    const starts = text.matchAll(
      /(?<=^|[\s(])(?:npm run -s pillarbox --|\.?\/?(?:dist\/)?pillarbox(?:-linux-x64)?) +((?:--(?:config|json) |[a-z])[^|&;`<>)]*)/g,
    )
    return [...starts].map(([, words = '']) => words.trim().replace(/[.:,]$/, ''))
  }

  function isKnownCommand(text: string): boolean {
    const words = text.split(/\s+/)
    const plain = words.filter((word, index) => {
      const isValue = words[index - 1] === '--config'
      return !isValue && !global.includes(word)
    })
    const name = plain
      .slice(0, plain.findIndex((word) => !/^[a-z]+(?:-[a-z]+)*$/.test(word)) >>> 0)
      .join(' ')
    const found = COMMANDS.filter(
      (spec) => `${name} `.startsWith(`${spec.name} `) || spec.name.startsWith(`${name} `),
    )
    const spec = found.toSorted((one, other) => other.name.length - one.name.length)[0]
    if (spec === undefined) return plain.length === 0
    const known = (spec.options ?? []).map(([flags]) => flags.replace(/^!/, '').split(' ')[0])
    const options = plain.flatMap((word) => word.match(/^\[?(--[a-z-]+)/)?.[1] ?? [])
    return options.every((option) => known.includes(option))
  }
})

describe('paths of the API on the pages', () => {
  const routes = ROUTES.map(([method, path]) => ({ method, segments: segmentsOf(path) }))
  /** Of the family; the page on compatibility says so. */
  const notBuilt = ['/analytics/heatmap', '/analytics/audience']
  const firsts = new Set(routes.map(({ segments }) => segments[0] ?? ''))

  it('exist with their methods', () => {
    const find = (page: DocsPage) =>
      codeOf(page).flatMap(
        (text) => text.match(/\b(?:GET|POST|PUT|PATCH|DELETE) \/[^\s`"'),]*/g) ?? [],
      )
    const isKnown = (name: string) => {
      const [method = '', path = ''] = name.split(' ')
      return routes.some((route) => route.method === method && isMatch(route.segments, path))
    }
    assertKnown(find, isKnown, 100)
  })

  it('exist where no method is named', () => {
    const find = (page: DocsPage) => [
      ...page.codeSpans.filter((text) => /^\/[a-z]/.test(text) && firsts.has(firstOf(text))),
      ...codeOf(page).flatMap((text) =>
        [...text.matchAll(/http:\/\/127\.0\.0\.1:8080(\/[^\s"'`)]*)/g)].map(
          ([, path = '']) => path,
        ),
      ),
    ]
    const isKnown = (path: string) =>
      notBuilt.includes(path) ||
      // A variable of a shell.
      path.startsWith('/$') ||
      routes.some(({ segments }) => isMatch(segments, path) || isBelow(segments, path))
    assertKnown(find, isKnown, 120)
  })

  function segmentsOf(path: string): string[] {
    return (path.split('?')[0] ?? '').split('/').filter((part) => part !== '')
  }

  function firstOf(path: string): string {
    return segmentsOf(path)[0] ?? ''
  }

  function isMatch(segments: readonly string[], path: string): boolean {
    const given = segmentsOf(path)
    const isOpen = (part: string | undefined) => part?.startsWith(':') === true
    if (segments.at(-1)?.includes('{.+}') === true && given.length > segments.length) return true
    const isSame = (part: string, index: number) =>
      isOpen(segments[index]) || part === segments[index]
    return given.length === segments.length && given.every(isSame)
  }

  /** `/v1` stands for all paths below it. */
  function isBelow(segments: readonly string[], path: string): boolean {
    const given = segmentsOf(path).filter((part) => part !== '*')
    return given.length < segments.length && given.every((part, index) => part === segments[index])
  }
})

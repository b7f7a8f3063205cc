/** Filters in the query of the address, so that the address shares the view. */

/** What a name of the query may be. `list`: some of the values, with commas. */
export type UrlField =
  | { kind: 'text' }
  | { kind: 'one'; values: readonly string[] }
  | { kind: 'list'; values: readonly string[] }
  | { kind: 'date' }

export type Fields = Readonly<Record<string, UrlField>>

export type UrlState<F extends Fields> = {
  [Name in keyof F]: F[Name] extends { kind: 'list' } ? readonly string[] : string
}

const DATE = /^\d{4}-\d\d-\d\d$/

/** Reads the filters. A value that cannot be one is left out, as in an address of an older version. */
export function readState<F extends Fields>(fields: F, query: string): UrlState<F> {
  const given = new URLSearchParams(query)
  const entries = Object.entries(fields).map(([name, field]) => [
    name,
    readField(field, given.get(name) ?? ''),
  ])
  return Object.fromEntries(entries) as UrlState<F>
}

function readField(field: UrlField, text: string): string | readonly string[] {
  switch (field.kind) {
    case 'text':
      return text
    case 'date':
      return DATE.test(text) && !Number.isNaN(Date.parse(text)) ? text : ''
    case 'one':
      return field.values.includes(text) ? text : ''
    case 'list': {
      const named = text.split(',')
      // The order of the values, so that one filter has one address.
      return field.values.filter((value) => named.includes(value))
    }
  }
}

/** The query of the filters with its `?`; empty without any. Other names of `query` stay. */
export function writeState<F extends Fields>(fields: F, state: UrlState<F>, query = ''): string {
  const result = new URLSearchParams(query)
  for (const name of Object.keys(fields)) {
    const value = (state as Record<string, string | readonly string[]>)[name] ?? ''
    const text = typeof value === 'string' ? value : value.join(',')
    if (text === '') result.delete(name)
    else result.set(name, text)
  }
  // Commas are allowed in a query and easier to read.
  const text = result.toString().replaceAll('%2C', ',')
  return text === '' ? '' : `?${text}`
}

/** Whether no filter is set. */
export function isUnfiltered<F extends Fields>(state: UrlState<F>): boolean {
  return Object.values(state as Record<string, string | readonly string[]>).every(
    (value) => value.length === 0,
  )
}

/** Adds the value to the list, or removes it. */
export function toggled(list: readonly string[], value: string): readonly string[] {
  return list.includes(value) ? list.filter((one) => one !== value) : [...list, value]
}

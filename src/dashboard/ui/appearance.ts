/** The scheme and the density of the page, as `theme.ts` reads them before the first paint. */
import { signal } from '@preact/signals'
import { keep, readKept } from '../logic/storage.ts'

export const THEMES = ['system', 'light', 'dark'] as const
export const DENSITIES = ['compact', 'comfortable'] as const

type Theme = (typeof THEMES)[number]
type Density = (typeof DENSITIES)[number]

/** The values that need no attribute. */
const DEFAULTS = { theme: 'system', density: 'compact' } as const

export const theme = signal<Theme>(stored('theme', THEMES))
export const density = signal<Density>(stored('density', DENSITIES))

export function setTheme(value: Theme): void {
  theme.value = value
  show('theme', value)
}

export function setDensity(value: Density): void {
  density.value = value
  show('density', value)
}

function stored<Value extends string>(
  name: keyof typeof DEFAULTS,
  values: readonly Value[],
): Value {
  const value = readKept(`pillarbox.${name}`)
  return values.find((one) => one === value) ?? (values[0] as Value)
}

function show(name: keyof typeof DEFAULTS, value: string): void {
  keep(`pillarbox.${name}`, value === DEFAULTS[name] ? undefined : value)
  if (value === DEFAULTS[name]) {
    delete document.documentElement.dataset[name]
  } else {
    document.documentElement.dataset[name] = value
  }
}

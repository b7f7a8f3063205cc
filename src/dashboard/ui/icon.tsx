/** Icons of 16 px, drawn with lines in the colour of their text. They are decoration: words stand beside them. */
const PATHS = {
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6 14 14',
  down: 'M4 6l4 4 4-4',
  up: 'M4 10l4-4 4 4',
  home: 'M2.5 7 8 2.5 13.5 7v6.5h-4V9.5h-3v4h-4z',
  send: 'M14 2 7.25 8.75M14 2 9.75 14l-2.5-5.25L2 6.25z',
  mail: 'M2 3.5h12v9H2zM2 4l6 4.75L14 4',
  pulse: 'M1.5 8.5H4L6 3l3.5 10 2-4.5h3',
  chart: 'M2.5 13.5h11M4 11V8M8 11V4M12 11V6',
  globe:
    'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c2 1.75 2.75 3.75 2.75 6S10 12.25 8 14C6 12.25 5.25 10.25 5.25 8S6 3.75 8 2z',
  key: 'M10.25 9a3.25 3.25 0 1 0-3-2L2.5 11.75v1.75h2.25v-1.5h1.5v-1.5L7.75 9zM11 5h.01',
  team: 'M8 7.5A2.5 2.5 0 1 0 8 2.5a2.5 2.5 0 0 0 0 5zM3 13.5c.4-2.6 2.3-4 5-4s4.6 1.4 5 4',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.500v-3h-8v8h3',
  warn: 'M8 2.5 14.5 13.5h-13zM8 6.5v3.500M8 11.750h.01',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.75V8l2.25 1.5',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  cross: 'M4 4l8 8M12 4l-8 8',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  out: 'M9.5 3.500h-6v9h6M7 8h7M11.500 5.500 14 8l-2.500 2.500',
  book: 'M8 4C6.500 3 4.500 2.750 2.500 3v9.500c2-.25 4 0 5.500 1 1.500-1 3.500-1.250 5.500-1V3c-2-.25-4 0-5.500 1zM8 4v9.500',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name, class: className = '' }: { name: IconName; class?: string }) {
  return (
    <svg class={`i ${className}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}

/** The mark of the product: a pillar box. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
      <path fill="var(--brand)" d="M6 21.5V7.500a6 6 0 0 1 12 0v14z" />
      <path fill="var(--surface)" d="M8.25 9.25h7.5V11h-7.5z" />
      <path fill="var(--surface)" opacity=".45" d="M9.25 13h5.5v4h-5.5z" />
      <path fill="var(--text)" d="M5 20.5h14V23H5z" />
    </svg>
  )
}

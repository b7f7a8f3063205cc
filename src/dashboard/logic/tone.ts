/** How a state looks: its shape and its colour. */
export type Tone = 'good' | 'warn' | 'bad' | 'live' | 'off'

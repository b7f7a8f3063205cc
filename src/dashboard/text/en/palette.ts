/** Texts of the palette, the keys and the tray of jobs. */
export const palette = {} as const

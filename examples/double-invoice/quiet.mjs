// The radar warns in the log of the process that executes. Here it is seen in its pages: the terminal belongs to the story.
export const quiet = { ...console, warn() {} };

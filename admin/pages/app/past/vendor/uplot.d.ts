declare const uPlot: any; export default uPlot;
